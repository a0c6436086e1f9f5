/** An element of the page that must be there. */
export function part<T extends Element = HTMLElement>(id: string): T {
  const found = document.getElementById(id);
  if (!found) throw new Error(`no element #${id}`);
  return found as unknown as T;
}
