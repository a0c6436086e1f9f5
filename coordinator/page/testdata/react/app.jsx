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

createRoot(document.querySelector("#root")).render(<Todo />);
