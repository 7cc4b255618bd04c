"""arrows.py - who may know whom: layers, the order inside a program, circles

The layers stand in the table of doc/OVERVIEW.md, lowest first.  The order of
a program's folders stands in a comment of its folder.mk, lowest first:

    # order: plan < intake < agents outcome < report

Folders that no `<` parts may not include each other.  The files that lie
beside the folders stand above all; where they stand below, the line says so
with a `.` in their place.  What OVERVIEW tells of the folders of a program it
tells in this order.

SPDX-License-Identifier: ISC
"""
import os
import re

# Folders whose own folders have an order.
ORDERED = ("smtpserver", "router", "scheduler", "transports", "tables", "sts",
           "share", "notify", "resolver", "web", "nodes", "tools",
           "libzm/io", "libzm/origin", "libzm/mail", "libzm/conf", "libzm/daemon")
CIRCLE_FILES = 4
OVERVIEW = "doc/OVERVIEW.md"
# What the pure layers keep out of.
PURE = ("libzm/grammar", "libzm/origin")
IMPURE = {"time.h", "unistd.h", "fcntl.h", "syslog.h", "sys/stat.h",
          "sys/time.h", "base/clock.h", "journal/event.h"}


# ---- layers ---------------------------------------------------------------

def table_rows(house):
    """(line, folders, words of what they may include) of OVERVIEW's table."""
    for number, line in enumerate(house.text(OVERVIEW).split("\n"), 1):
        cells = [c.strip() for c in line.strip().strip("|").split("|")]
        if len(cells) == 3 and "`" in cells[0]:
            yield number, re.findall(r"`([^`]+)/`", cells[0]), set(
                re.findall(r"\w+", re.sub(r"\(.*?\)", "", cells[2])))


def read_layers(house):
    """The table of doc/OVERVIEW.md: folder -> folders it may include."""
    rows = list(table_rows(house))
    libzm = {f.split("/")[1] for _, folders, _ in rows for f in folders
             if f.startswith("libzm/")}
    arrows = {}
    for _, folders, words in rows:
        if "everything" in words:
            continue
        may = libzm if "libzm" in words else words & libzm
        for folder in folders:
            arrows[folder] = {"libzm/" + m for m in may} | {folder}
    return arrows


def layers_rise(house):
    """A layer may include those that the table has above it."""
    above = set()
    for number, folders, words in table_rows(house):
        for folder in folders:
            if not folder.startswith("libzm/"):
                continue
            if "libzm" not in words:
                for word in sorted(words - above - {"and", "for"}):
                    if any(word == f.split("/")[-1] for _, some, _ in
                           table_rows(house) for f in some):
                        yield OVERVIEW, number, "%s stands above %s/: no " \
                            "arrow down to it" % (folder, word)
            above.add(folder.split("/")[1])


def layer_of(path):
    """The folder of the table that a path lies in."""
    parts = path.split("/")
    return "/".join(parts[:2]) if parts[0] == "libzm" else parts[0]


def our_includes(house, source):
    """(line, what is written, path or None); the build makes some more."""
    for number, name, is_quoted in source.includes():
        if is_quoted and name != "config.h" and not name.endswith(".inc"):
            yield number, name, house.resolve(
                os.path.dirname(source.path), name)


def layers(house):
    arrows = read_layers(house)
    if not arrows:
        yield OVERVIEW, 1, "has no table of the layers"
    yield from layers_rise(house)
    for source in house.sources:
        mine = layer_of(source.path)
        if mine in PURE:
            for number, name, _ in source.includes():
                if name in IMPURE:
                    yield source.path, number, "%s is pure: no %s" % (
                        mine, name)
        for number, name, target in our_includes(house, source):
            if target is None:
                if mine != "tests":         # which may have -I of their own
                    yield source.path, number, "no header %s" % name
            elif mine in arrows and layer_of(target) not in arrows[mine]:
                yield (source.path, number, "%s may not include %s "
                       "(doc/OVERVIEW.md)" % (mine, layer_of(target)))


# ---- the order inside a program -------------------------------------------

def read_order(text):
    """Folder -> height, from the comment of a folder.mk; None without."""
    match = re.search(r"^# order: ((?:.*<\s*\n#)*.*)", text, re.M)
    if match is None:
        return None
    heights = {}
    for height, level in enumerate(match.group(1).replace(
            "\n#", " ").split("<")):
        for folder in level.split():
            heights[folder.rstrip("/,")] = height
    return heights


def room(program, path):
    """The folder of the program that a path lies in, "." beside them."""
    rest = path[len(program) + 1:].split("/")
    return rest[0] if len(rest) > 1 else "."


def order(house):
    """An include points to its own folder or to one written before it."""
    for program in ORDERED:
        sources = [s for s in house.sources
                   if s.path.startswith(program + "/")]
        rooms = {room(program, s.path) for s in sources} - {"."}
        if not rooms:
            continue
        page = program + "/folder.mk"
        heights = read_order(house.text(page))
        if heights is None:
            yield page, 1, "no line `# order: a < b < c` of its folders"
            continue
        for folder in sorted(rooms - set(heights)):
            yield page, 1, "its order does not name %s/" % folder
        for folder in sorted(set(heights) - rooms - {"."}):
            if not any(p.startswith("%s/%s/" % (program, folder))
                       for p in house.paths):
                yield page, 1, "its order names %s/, which is not there" % \
                    folder
        heights.setdefault(".", len(heights) + 1)
        for source in sources:
            for number, name, target in our_includes(house, source):
                if target is None or not target.startswith(program + "/"):
                    continue
                mine, other = room(program, source.path), room(program, target)
                if mine == other or mine not in heights or \
                   other not in heights or heights[other] < heights[mine]:
                    continue
                yield source.path, number, "%s stands below %s: no include " \
                    "of %s" % (mine, other, name) if heights[other] > \
                    heights[mine] else "%s and %s may not include each " \
                    "other: %s" % (mine, other, name)


def order_told(house):
    """OVERVIEW names the folders of a program in the order of its folder.mk,
    and each of them, where it tells of them."""
    page = house.text(OVERVIEW)
    for program in ORDERED:
        found = re.search(r"(?:[Rr]ooms|[Ff]olders|Those) of `%s/`(.*?)"
                          r"(?=\n\n|\nThose of |\Z)" % re.escape(program),
                          page, re.S)
        heights = read_order(house.text(program + "/folder.mk"))
        if found is None or heights is None:
            continue
        line = page.count("\n", 0, found.start()) + 1
        inline = re.search(r"\(`([^`]*<[^`]*)`", found.group(1))
        if inline and read_order("# order: " + " ".join(
                inline.group(1).split())) != heights:
            yield OVERVIEW, line, "the order of %s/ is another one in its " \
                "folder.mk" % program
        told = [name for name in dict.fromkeys(
            re.findall(r"`(\w+)/`", found.group(1))) if name in heights]
        for name in sorted(set(heights) - set(told) - {"."}):
            yield OVERVIEW, line, "tells nothing of %s/%s/" % (program, name)
        for one, following in zip(told, told[1:]):
            if heights[following] < heights[one]:
                yield OVERVIEW, line, "%s/ stands below %s/ in %s/folder.mk" \
                    % (following, one, program)


# ---- circles of calls -----------------------------------------------------

WORDS = re.compile(r"\b[a-z_]\w*(?=\s*\()|"
                   r"(?<=[,(=&{?:])\s*&?([a-z_]\w*)(?=\s*[,;)}:])")


def calls(house):
    """Path -> {path: a function that it calls there}, inside programs."""
    owners = {}
    for source in house.product:
        for function in source.functions:
            if not function.is_static and function.name != "main":
                owners.setdefault(function.name, set()).add(source.path)
    graph = {}
    for source in house.product:
        if source.is_header:
            continue
        own = {f.name for f in source.functions}
        program = source.path.split("/")[0]
        graph[source.path] = edges = {}
        for match in WORDS.finditer(source.code_text):
            name = match.group(1) or match.group(0)
            for path in owners.get(name, ()):
                if path.split("/")[0] == program and name not in own:
                    edges.setdefault(path, name)
    return graph


def components(graph):
    """Strongly connected sets of more than one file (Tarjan, with a stack
    of our own)."""
    index, low, stack, on_stack, found = {}, {}, [], set(), []
    for root in sorted(graph):
        if root in index:
            continue
        work = [(root, iter(sorted(graph[root])))]
        index[root] = low[root] = len(index)
        stack.append(root)
        on_stack.add(root)
        while work:
            node, rest = work[-1]
            for other in rest:
                if other not in index:
                    index[other] = low[other] = len(index)
                    stack.append(other)
                    on_stack.add(other)
                    work.append((other, iter(sorted(graph[other]))))
                    break
                if other in on_stack:
                    low[node] = min(low[node], index[other])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    circle = set()
                    while node not in circle:
                        circle.add(stack.pop())
                    on_stack -= circle
                    if len(circle) > 1:
                        found.append(circle)
    return found


def circles(house):
    """Files that call each other in a circle are one file in many."""
    graph = calls(house)
    for circle in components(graph):
        if len(circle) > CIRCLE_FILES:
            arrows = ["%s -> %s: %s" % (path, other, name)
                      for path in sorted(circle)
                      for other, name in sorted(graph[path].items())
                      if other in circle]
            yield sorted(circle)[0], 1, "%d files call each other in a " \
                "circle\n    %s" % (len(circle), "\n    ".join(arrows))
