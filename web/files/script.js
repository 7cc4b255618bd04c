/* script.js - what is quicker with it; every page works without */
"use strict";
document.addEventListener("keydown", function (event) {
	const box = document.getElementById("q");

	if (event.key === "/" && box && !event.ctrlKey && !event.metaKey &&
	    !event.altKey && document.activeElement.tagName !== "INPUT") {
		event.preventDefault();
		box.focus();
	}
});
document.querySelectorAll("form.orders").forEach(function (form) {
	const boxes = form.querySelectorAll("input[name=id][type=checkbox]");
	const label = document.createElement("label");
	const all = document.createElement("input");

	if (boxes.length < 2)
		return;
	all.type = "checkbox";
	all.addEventListener("change", function () {
		boxes.forEach(function (box) { box.checked = all.checked; });
	});
	label.append(all, " all of this page");
	form.prepend(label);
});
/* What completes the word at the caret of a box of selectors: a combobox with
 * a list below it, of words that the server knows (web/pages/complete.c). */
document.querySelectorAll("input[list=q-words]").forEach(function (box) {
	const list = document.createElement("ul");
	const note = document.createElement("span");
	let options = [];
	let at = -1;
	let asked = 0;
	let timer = 0;

	/* From the blank or bracket before the caret. */
	function start() {
		const before = box.value.slice(0, box.selectionStart);

		return before.length - before.match(/[^\s()]*$/)[0].length;
	}
	function close() {
		asked++;
		clearTimeout(timer);
		list.hidden = true;
		at = -1;
		box.setAttribute("aria-expanded", "false");
		box.removeAttribute("aria-activedescendant");
		note.textContent = "";
	}
	function mark(number) {
		if (at >= 0)
			options[at].setAttribute("aria-selected", "false");
		at = number;
		options[at].setAttribute("aria-selected", "true");
		options[at].scrollIntoView({ block: "nearest" });
		box.setAttribute("aria-activedescendant", options[at].id);
	}
	function take(option) {
		const word = option.dataset.word;
		const from = start();
		const more = /[:>\/]$/.test(word);
		const rest = box.value.slice(box.selectionStart);
		const put = word + (more || rest.startsWith(" ") ? "" : " ");

		box.value = box.value.slice(0, from) + put + rest;
		box.setSelectionRange(from + put.length, from + put.length);
		box.focus();
		close();
		if (more)
			ask();
	}
	function show(words) {
		close();
		list.replaceChildren();
		options = words.map(function (word, number) {
			const option = document.createElement("li");
			const code = document.createElement("code");

			option.id = "q-word-" + number;
			option.setAttribute("role", "option");
			option.setAttribute("aria-selected", "false");
			option.dataset.word = word.word;
			code.textContent = word.word;
			option.append(code, " " + word.text);
			option.addEventListener("mousedown", function (event) {
				event.preventDefault();
				take(option);
			});
			list.append(option);
			return option;
		});
		list.hidden = options.length === 0;
		box.setAttribute("aria-expanded", String(!list.hidden));
		note.textContent = list.hidden ? "" : options.length +
			" words, with the arrow keys";
	}
	async function fetchWords(word) {
		const mine = ++asked;

		try {
			const reply = await fetch("/complete?word=" +
				encodeURIComponent(word));
			const words = reply.ok ? (await reply.json()).words : [];

			if (mine === asked)
				show(words.filter(function (one) {
					return one.word !== word; }));
		} catch (error) {
			close();	/* it can be typed */
		}
	}
	function ask() {
		const word = box.value.slice(start(), box.selectionStart);

		clearTimeout(timer);
		timer = setTimeout(function () { fetchWords(word); }, 120);
	}
	box.addEventListener("keydown", function (event) {
		const count = options.length;

		if (event.key === "ArrowDown" && list.hidden) {
			event.preventDefault();
			ask();
		} else if (list.hidden) {
			return;
		} else if (event.key === "ArrowDown" ||
			event.key === "ArrowUp") {
			event.preventDefault();
			mark((at + (event.key === "ArrowDown" ? 1 :
				at < 0 ? count : count - 1)) % count);
		} else if (event.key === "Escape") {
			event.preventDefault();
			close();
		} else if ((event.key === "Enter" || event.key === "Tab") &&
			at >= 0) {
			event.preventDefault();
			take(options[at]);
		}
	});
	box.addEventListener("input", ask);
	box.addEventListener("blur", close);
	box.removeAttribute("list");
	box.setAttribute("role", "combobox");
	box.setAttribute("aria-autocomplete", "list");
	box.setAttribute("aria-controls", "q-list");
	box.setAttribute("aria-expanded", "false");
	list.id = "q-list";
	list.className = "offered";
	list.setAttribute("role", "listbox");
	list.setAttribute("aria-label", "Words that fit");
	list.hidden = true;
	note.className = "unseen";
	note.setAttribute("role", "status");
	box.after(list, note);
});
/* Numbers of the overview are renewed; of what else has changed since the page
 * was made, it says so.  Browsers open few connections to one host, so a page
 * that nobody sees has none. */
(function () {
	const note = document.getElementById("live");
	let source = null;
	let first = null;

	function tell(words) {
		const link = document.createElement("a");

		if (note.firstChild)
			return;
		link.href = location.href;
		link.textContent = "Show it as it is now";
		note.append(words + " ", link);
	}
	function renew(cell, states) {
		const words = cell.dataset.live.split(" ");
		const state = states[words[0]] || {};

		cell.textContent = state[words[1]] || 0;
		return words[0];
	}
	function show(event) {
		const count = JSON.parse(event.data);
		const cells = Array.from(
			document.querySelectorAll("[data-live]"));
		let known = [];

		if (count.trouble) {
			tell("The scheduler does not answer.");
			return;
		}
		known = cells.map(function (cell) {
			return renew(cell, count.states);
		});
		if (cells.length === 0 ? first !== null && first !== event.data :
		    Object.keys(count.states).some(function (state) {
			return !known.includes(state); }))
			tell("What waits has changed since this page was made.");
		first = first || event.data;
		note.dataset.heard = "yes";
	}
	function look() {
		if (document.hidden && source) {
			source.close();
			source = null;
		} else if (!document.hidden && !source) {
			source = new EventSource("/live");
			source.addEventListener("count", show);
		}
	}
	if (!note)
		return;
	document.addEventListener("visibilitychange", look);
	look();
})();
