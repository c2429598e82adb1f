/** Each of `removed` goes once, the first of that text; `added` come at the end, in their order. */
export function changeKernelArguments(
  args: readonly string[],
  change: { readonly removed: readonly string[]; readonly added: readonly string[] },
): string[] {
  const left = [...args];
  for (const removed of change.removed) {
    const at = left.indexOf(removed);
    if (at !== -1) left.splice(at, 1);
  }
  return [...left, ...change.added];
}

/** Of a command line: at spaces, but not at those between quotes. */
function splitKernelArguments(text: string): string[] {
  return text.match(/(?:"[^"]*"|[^\s"])+/g) ?? [];
}

/** What the boot loader put there for itself is none of the OS's, and where ostree finds the deployment changes with others. */
export function readCommandLine(text: string): string[] {
  return splitKernelArguments(text).filter((argument) => !/^(BOOT_IMAGE|ostree)=/.test(argument));
}
