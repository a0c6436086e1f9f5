import { createRoot } from "react-dom/client";

function Price({ amount }) {
  return <b id="price">{amount} €</b>;
}

function Cart() {
  return (
    <section>
      <Price amount={4} />
    </section>
  );
}

createRoot(document.getElementById("root")).render(<Cart />);
