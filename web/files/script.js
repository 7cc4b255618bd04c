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
