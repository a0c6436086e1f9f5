import { createApp, h } from "vue";
import Price from "./Price.vue";

const Cart = {
  name: "Cart",
  data: () => ({ open: true }),
  render() {
    return h("section", [h("p", String(this.open)), h(Price, { amount: 4, label: "Tea" })]);
  },
};
createApp(Cart).mount("#root");
