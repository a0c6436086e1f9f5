import { useState } from "react";
import { createRoot } from "react-dom/client";

function Todo() {
  const [items, setItems] = useState(["Water the plants"]);
  const [draft, setDraft] = useState("");
  const add = (event) => {
    event.preventDefault();
    setItems([...items, draft]);
    setDraft("");
  };
  return (
    <main>
      <h1>{items.length} things to do</h1>
      <form onSubmit={add}>
        <input aria-label="New thing" value={draft} onChange={(event) => setDraft(event.target.value)} />
        <button disabled={!draft}>Add</button>
      </form>
      <ul>
        {items.map((item) => (
          <li key={item}>
            <span>{item}</span> <button onClick={() => setItems(items.filter((other) => other !== item))}>Done: {item}</button>
          </li>
        ))}
      </ul>
    </main>
  );
}

// Every kind of field, controlled: React puts back what it was not told of.
function Form() {
  const [state, setState] = useState({ text: "old", area: "", number: "1", date: "", range: "0", colour: "a", agreed: false, size: "s" });
  const change = (event) => {
    const { name, type, value, checked } = event.target;
    setState((before) => ({ ...before, [name]: type === "checkbox" ? checked : value }));
  };
  return (
    <form>
      <input name="text" value={state.text} onChange={change} />
      <textarea name="area" value={state.area} onChange={change} />
      <input name="number" type="number" value={state.number} onChange={change} />
      <input name="date" type="date" value={state.date} onChange={change} />
      <input name="range" type="range" max="10" value={state.range} onChange={change} />
      <select name="colour" value={state.colour} onChange={change}>
        <option value="a">Amber</option>
        <option value="b">Blue</option>
      </select>
      <input name="agreed" type="checkbox" checked={state.agreed} onChange={change} />
      {["s", "l"].map((size) => <input key={size} name="size" type="radio" value={size} checked={state.size === size} onChange={change} />)}
      <output>{JSON.stringify(state)}</output>
    </form>
  );
}

for (const [id, element] of [["root", <Todo />], ["form", <Form />]]) {
  const root = document.getElementById(id);
  if (root) createRoot(root).render(element);
}
