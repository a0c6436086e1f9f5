import { mount } from "svelte";
import Price from "./Price.svelte";

mount(Price, { target: document.getElementById("root"), props: { amount: 4, label: "Tea" } });
