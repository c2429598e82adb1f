import { oneLine } from '@slipway/base/text';

/** An error that was foreseen carries a code of ours and a message that stands alone. */
const codeOf = (error: unknown): string | undefined =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' && error.code.startsWith('SLW_')
    ? error.code
    : undefined;

/** One line for the user. Only a bug shows more, and only to who asks for it. */
export function failureText(error: unknown, debug: boolean): string {
  const code = codeOf(error);
  const message = error instanceof Error ? error.message : String(error);
  if (code !== undefined) return `slipway: ${oneLine(message)} [${code}]`;
  const text = `slipway: unexpected: ${oneLine(message)}. This is a bug in slipway; SLIPWAY_DEBUG=1 shows where`;
  return debug && error instanceof Error ? `${text}\n${error.stack ?? ''}` : text;
}
