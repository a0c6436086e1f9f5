import "@angular/compiler"; // links the packages, as the Angular CLI's build does
import { Component, Input, computed, input, output, signal } from "@angular/core";
import { bootstrapApplication } from "@angular/platform-browser";

@Component({ selector: "tea-price", template: `<p><button (click)="pick()">{{ label }} {{ total() }}</button></p>` })
class Price {
  readonly amount = input.required<number>({ alias: "cost" });
  @Input() label = "";
  readonly picked = output();
  readonly count = signal(0);
  readonly total = computed(() => this.amount() + this.count());
  pick() {
    this.count.update((n) => n + 1);
    this.picked.emit();
  }
}

@Component({
  selector: "tea-cart",
  imports: [Price],
  template: `@if (open) { <section><tea-price [cost]="4" label="Tea" /></section> }`,
})
class Cart {
  open = true;
}

@Component({ selector: "tea-shop", imports: [Cart], template: `<tea-cart />` })
class Shop {}

document.getElementById("root")!.append(document.createElement("tea-shop"));
bootstrapApplication(Shop);
