-- hooks.lua - an example of a site's script; tests/flow/hooks/hooks-example.flow runs it
--
-- Partners come from the table <partners>: domain, then the relay that takes
-- its mail.  After a merger old.example lives on under new names.

local moved = { ["old.example"] = "mail.new.example:2525" }

-- Before anything is looked up: may this sender write to this recipient?
function on_rcpt(c, from, to)
	if to:match("^announce@") and not c.user then
		return zm.reject("5.7.1", "only members write to the announcements")
	end
end

-- Each address on its way, aliases and lists opened.
function route(addr, msg)
	local domain = addr:match("@(.*)$")
	local relay = zm.lookup("partners", domain)
	if relay then return zm.via(relay) end
	if moved[domain] then return zm.via(moved[domain]) end
end

-- The header as it will go on.  What is not named keeps its bytes.
function on_header(header, msg)
	if msg.origin == "local" then header:remove("X-Originating-IP") end
	local subject = header:get("Subject") or ""
	if subject:find("%[secret%]") then
		return zm.freeze("the subject says secret")
	end
	if not header:get("Message-Id") then header:add("X-No-Id", "yes") end
end

-- Afterwards: what came of each recipient.
function on_result(msg, rcpt, result)
	if result.verdict == "failed" then
		zm.log(rcpt.to, " from ", msg.from, " failed: ", result.text)
	end
end

-- Before each try.  Newsletters wait for the night, until they are a day old.
function before_attempt(message, recipient, destination)
	local hour = message.now // 3600 % 24
	if message.from:match("^news@") and tonumber(message.age) < 86400 and
	    hour >= 6 and hour < 22 then
		return zm.at((message.now // 3600 + 22 - hour) * 3600,
		    "newsletters go at night")
	end
	-- what a partner's relay would not take three times goes to his other
	local spares = { ["mail.new.example:2525"] = "spare.new.example" }
	local spare = spares[destination.host]
	if spare and tonumber(recipient.tries) > 3 then
		return zm.via(spare, "three tries at " .. destination.host)
	end
end
