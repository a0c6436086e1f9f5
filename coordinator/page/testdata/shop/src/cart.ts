export interface Item {
  name: string;
  price: number;
}

export class Cart {
  private items: Item[] = [];

  add(item: Item): number {
    if (item.price < 0) {
      throw new RangeError(`the price of ${item.name} is negative`);
    }
    this.items.push(item);
    return this.items.reduce((sum, { price }) => sum + price, 0);
  }
}
