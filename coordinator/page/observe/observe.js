function (binding) {
  // Reports what the user does in this document, and to which elements, as an agent would name them. It runs in an
  // isolated world of its own, which the page neither sees nor reaches. Only the browser makes trusted events, but not
  // each trusted event is the user's: a script's click on a label or a checkbox leads to some, and so does
  // document.execCommand. So a click must belong to a key or a button that was just released, and text to a field that
  // the user has pointed or typed into.
  const MOST = 5000, MAX_TEXT = 10000;
  const send = globalThis[binding], naming = library.naming();
  const elements = new WeakMap(), secret = new WeakSet();
  let counted = 0, sent = 0;
  let time, pressed, gesture, touched, pending, described, dragged;

  const report = (step) => { if (sent++ < MOST) send(JSON.stringify({ at: time, ...step })); };
  const numberOf = (e) => elements.get(e) ?? (elements.set(e, ++counted), counted);
  const first = (e) => e.composedPath().find((n) => n.$nodeType === 1) ?? document.$body;
  const isInput = (e, ...types) => e.$nodeName === "INPUT" && types.includes(e.$type);

  // control is what a user has acted on: of a part of a button that button, of a label its field.
  function control(e) {
    for (let n = e; n; n = n.$assignedSlot ?? n.$parentNode ?? n.$host) {
      if (n.$nodeType !== 1) continue;
      if (n.$nodeName === "LABEL" && n.$control) return n.$control;
      if (naming.actionable.has(naming.roleOf(n))) return n;
    }
    return e;
  }

  // isSecret: also a field that shows its password now and then, or hides what is typed by its style.
  function isSecret(e) {
    if (naming.named(e).password || getComputedStyle(e).webkitTextSecurity !== "none") secret.add(e);
    return secret.has(e);
  }

  // alike counts the elements of the same role, as Playwright does: those whose names contain this one's, those of the
  // same name, and which of these this one is.
  function alike(e, role) {
    library.numbering({ generation: 1 });
    const outline = library.outline(document.$documentElement, {
      last: memory.numbered ?? 0,
      look: role,
      clipped: true,
    });
    outline.itemsOf(document.$documentElement);
    memory.numbered = outline.last();
    const folded = (s) => s.replace(/\s+/g, " ").trim().toLowerCase(),
      found = [];
    for (let i = 0; i < outline.sighted.length; i += 3)
      found.push({ e: memory.elements.get(outline.sighted[i])?.deref(), name: outline.sighted[i + 1] });
    const { name = "" } = found.find((f) => f.e === e) ?? {},
      wanted = folded(name),
      same = found.filter((f) => f.name === name);
    return {
      name,
      like: found.filter((f) => folded(f.name).includes(wanted)).length,
      same: same.length,
      index: same.findIndex((f) => f.e === e),
    };
  }

  // describe has the element's identity, what a test can find it by, and the first selector that finds it alone.
  function describe(e) {
    const { role, name, password } = naming.named(e),
      located = library.locate.call(e);
    const label = naming.labelOf({ role, name }),
      all = name ? library.matching(label) : [];
    const candidates = [
      name && label,
      Array.isArray(all) && all.includes(e) && `${label} >> nth=${all.indexOf(e)}`,
      located.testId && `[data-testid=${JSON.stringify(located.testId)}]`,
      located.css,
    ];
    return {
      number: numberOf(e),
      role,
      name,
      password: password || secret.has(e),
      located: { ...located, role, ...alike(e, role) },
      selector: candidates.find((c) => c && library.query(c) === e) ?? "",
    };
  }

  const modifiersOf = (e) => ["Control", "Alt", "Meta", "Shift"].filter((m) => e.getModifierState(m));

  // What a click on a checkbox makes of it is known only afterwards.
  function settle() {
    const { at, e, on, was, modifiers } = pending ?? {};
    pending = undefined;
    if (!e) return;
    if (e.$type === "radio" ? e.$checked : e.$checked !== was) report({ at, do: "check", on, state: e.$checked });
    else report({ at, do: "click", on, modifiers });
  }

  function clicked(event) {
    const hit = first(event),
      mouse = gesture && !gesture.key && event.timeStamp === gesture.time;
    const keyed =
      gesture?.key &&
      event.detail === 0 &&
      (hit === gesture.hit ||
        (gesture.arrow && isInput(hit, "radio") && isInput(gesture.hit, "radio") && hit.$name === gesture.hit.$name));
    if (!(mouse || keyed) || gesture.used) return;
    gesture.used = true;
    const e = control(hit);
    // Dragging over a page ends with a click on what the mouse has been over.
    if (
      mouse &&
      event.detail < 2 &&
      pressed &&
      Math.hypot(event.screenX - pressed.x, event.screenY - pressed.y) > 10 &&
      control(pressed.hit) !== e
    )
      return;
    if (
      e.$nodeName === "SELECT" ||
      (e.$nodeName === "OPTION" && e.$closest("select")) ||
      isInput(e, "file", "color", "date", "time", "datetime-local", "month", "week", "range")
    )
      return;
    settle();
    const modifiers = mouse ? modifiersOf(event) : [];
    if (isInput(e, "checkbox", "radio")) {
      // The box that was hit has its new state already; the one of a label gets it next.
      pending = { at: time, e, on: describe(e), was: hit === e ? !e.$checked : e.$checked, modifiers };
      setTimeout(settle);
      return;
    }
    const step = { do: "click", on: describe(e), modifiers, double: event.detail === 2 };
    if (step.on.role === "canvas") {
      const box = e.$getBoundingClientRect();
      step.position = {
        x: Math.round(event.clientX - box.x - e.$clientLeft),
        y: Math.round(event.clientY - box.y - e.$clientTop),
      };
    }
    report(step);
  }

  function keyed(event) {
    const hit = first(event), { key } = event;
    touched = hit;
    // In a group of radio buttons, an arrow clicks the next one.
    gesture = { key: true, hit, arrow: key.startsWith("Arrow") };
    if (
      event.isComposing ||
      [
        "Control",
        "Alt",
        "AltGraph",
        "Meta",
        "Shift",
        "CapsLock",
        "NumLock",
        "ScrollLock",
        "Fn",
        "Dead",
        "Process",
        "Unidentified",
      ].includes(key)
    )
      return;
    const types = event.getModifierState("AltGraph"),
      chord = !types && modifiersOf(event).some((m) => m !== "Shift"),
      letter = key.length === 1;
    const field = library.takesText.call(hit);
    if (field) {
      if (letter && (!chord || (/^[acvxyz]$/i.test(key) && !event.altKey))) return;
      const lines = hit.$nodeName !== "INPUT",
        typed = hit.$nodeName === "INPUT" && !isInput(hit, "text", "search", "email", "url", "tel", "password");
      if (["Backspace", "Delete", "ArrowLeft", "ArrowRight", "Home", "End"].includes(key)) return;
      if ((lines || typed) && /^(Arrow|Page)/.test(key) || lines && key === "Enter" && !chord) return;
    } else if (!chord) {
      // These lead to a click, or change the value.
      if (
        (hit.$nodeName === "SELECT" || isInput(hit, "radio", "range", "color")) &&
        (letter || /^(Arrow|Page|Home|End)/.test(key))
      )
        return;
      const activated =
        hit.$nodeName === "BUTTON" ||
        hit.$nodeName === "SUMMARY" ||
        isInput(hit, "button", "submit", "reset", "image", "file", "color");
      if (
        (key === " " && (activated || isInput(hit, "checkbox", "radio"))) ||
        (key === "Enter" && (activated || (hit.$nodeName === "A" && hit.$hasAttribute("href"))))
      )
        return;
    }
    settle();
    const names = modifiersOf(event).filter((m) => m !== "Shift" ? chord : !letter || chord);
    const whole = hit === document.$body || hit === document.$documentElement;
    gesture.used = true; // Enter in a field also clicks the form's button
    report({
      do: "press",
      on: whole ? undefined : describe(hit),
      key: [...names, key === " " ? "Space" : key].join("+"),
    });
  }

  function typed(event) {
    const e = first(event);
    if (isInput(e, "checkbox", "radio", "file") || e.$nodeName === "SELECT") return;
    if (touched !== e && !(touched && control(touched) === e) && !e.$contains(touched)) return;
    settle();
    if (described?.e !== e) described = { e, on: describe(e) };
    const { on } = described, rich = e.$nodeName !== "INPUT" && e.$nodeName !== "TEXTAREA";
    if (isSecret(e)) return report({ do: "type", on: { ...on, password: true } });
    const text = rich ? e.$innerText.replace(/\n$/, "") : e.$value;
    report(text.length > MAX_TEXT ? { do: "type", on, long: true } : { do: "type", on, text });
  }

  function changed(event) {
    const e = first(event);
    if (isInput(e, "file")) report({ do: "upload", on: describe(e), files: [...e.$files].map((f) => f.name) });
    if (e.$nodeName !== "SELECT") return;
    const labels = [...e.$options].map((o) => o.$label);
    report({
      do: "select",
      on: describe(e),
      values: [...e.$selectedOptions].map((o) =>
        labels.filter((l) => l === o.$label).length === 1 ? o.$label : o.$value,
      ),
    });
  }

  const listeners = {
    pointerdown: (e) => {
      touched = first(e);
      pressed = { x: e.screenX, y: e.screenY, hit: first(e) };
      if (isInput(touched, "password")) secret.add(touched);
    },
    pointerup: (e) => {
      gesture = { time: e.timeStamp };
    },
    mouseup: (e) => {
      if (gesture?.time !== e.timeStamp) gesture = { time: e.timeStamp };
    },
    click: clicked,
    auxclick: (e) => {
      settle();
      report({
        do: "click",
        on: describe(control(first(e))),
        modifiers: modifiersOf(e),
        button: e.button === 1 ? "middle" : "right",
      });
    },
    keydown: keyed,
    keyup: (e) => {
      gesture = e.key === " " ? { key: true, hit: first(e) } : undefined;
      setTimeout(() => {
        gesture = undefined;
      });
    },
    compositionstart: (e) => {
      touched = first(e);
    },
    focusin: (e) => {
      if (isInput(first(e), "password")) secret.add(first(e));
    },
    focusout: (e) => {
      described = undefined;
      if (touched === first(e)) touched = undefined;
    },
    input: typed,
    change: changed,
    dragstart: (e) => { dragged = { e: first(e), on: describe(first(e)) }; },
    drop: (e) => {
      const to = first(e);
      touched = to;
      if (dragged && !library.takesText.call(to)) report({ do: "drag", on: dragged.on, to: describe(control(to)) });
      dragged = undefined;
    },
    dragend: () => { dragged = undefined; },
    pagehide: settle,
  };
  // A document that is written again has lost its listeners; the same ones again are no second ones.
  const { addEventListener, removeEventListener } = EventTarget.prototype; // of the window, an id may shadow them
  const guarded = memory.observed ??= Object.entries(listeners).map(([kind, f]) => [kind, (e) => {
    if (!e.isTrusted) return;
    time = performance.timeOrigin + e.timeStamp;
    try { f(e); } catch { report({ do: "missed" }); }
  }]);
  for (const [kind, f] of guarded) addEventListener.call(globalThis, kind, f, { capture: true, passive: true });
  memory.endObserving = () => {
    for (const [kind, f] of guarded) removeEventListener.call(globalThis, kind, f, { capture: true });
  };
  send('{"do":"begin"}');
}
