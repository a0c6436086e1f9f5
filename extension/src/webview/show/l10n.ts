// In place of @vscode/l10n: the pages of `coordinator show` have no translations.

export function t(text: string, ...values: unknown[]): string {
  return text.replace(/\{(\d+)\}/g, (_, index) => String(values[Number(index)] ?? ""));
}
