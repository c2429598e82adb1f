import type { ApiResponse } from './cluster.ts';

/** What of an expected error must be in ours: all of it in suites of our own, else the place that it begins with. */
export type Wording = 'exact' | 'place';

const decisivePart = (expectedError: string, wording: Wording): string =>
  wording === 'exact' ? expectedError : (/^((?:spec|status)[\w.[\]]*): /.exec(expectedError)?.[1] ?? '');

/**
 * Why an answer is not the refusal that was expected, or nothing if it is. It must be a refusal by the schema or by a
 * policy: a missing kind or permission refuses too, and proves nothing.
 */
export function wrongRefusal(
  answer: ApiResponse<unknown>,
  expectedError: string,
  wording: Wording,
): string | undefined {
  if (answer.ok) return `should be refused with: ${expectedError}`;
  const byPolicy = answer.status === 403 && answer.message.includes('ValidatingAdmissionPolicy');
  if (answer.status !== 422 && !byPolicy) return `failed with ${answer.status}, not by validation: ${answer.message}`;
  const part = decisivePart(expectedError, wording);
  return answer.message.includes(part) ? undefined : `should be refused with "${part}", but: ${answer.message}`;
}
