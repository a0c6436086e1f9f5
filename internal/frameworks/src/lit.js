import { LitElement, html } from "lit";

class TeaPrice extends LitElement {
  static properties = { amount: { type: Number }, label: {}, count: { state: true } };
  constructor() {
    super();
    this.count = 0;
  }
  render() {
    return html`<button @click=${() => this.count++}>${this.label} ${this.amount + this.count}</button>`;
  }
}
customElements.define("tea-price", TeaPrice);

class TeaCart extends LitElement {
  render() {
    return html`<section><tea-price amount="4" label="Tea"></tea-price></section>`;
  }
}
customElements.define("tea-cart", TeaCart);
document.getElementById("root").append(document.createElement("tea-cart"));
