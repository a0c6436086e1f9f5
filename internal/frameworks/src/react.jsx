import { Component, memo, useEffect, useReducer, useRef, useState } from "react";
import { createRoot } from "react-dom/client";

function Price({ amount, label, onPick }) {
  const [count, setCount] = useState(0);
  const [, dispatch] = useReducer((n, by) => n + by, 10);
  const last = useRef("none");
  useEffect(() => { last.current = "shown"; }, []);
  return <button onClick={() => { setCount(count + 1); dispatch(5); onPick(); }}>{label} {amount + count}</button>;
}
const Rarely = memo(Price);

class Cart extends Component {
  state = { open: true };
  render() {
    return <section><p>{this.state.open ? "Open" : "Closed"}</p><Rarely amount={4} label="Tea" onPick={() => this.setState({ open: false })} /></section>;
  }
}

createRoot(document.getElementById("root")).render(<Cart name="basket" />);
