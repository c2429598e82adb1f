// The URL of an ISO, before it is written anywhere: what Ironic would refuse anyhow is refused here, with the reason.
import { CommandError } from '../cli/errors.ts';

const LONGEST = 2048;

export function checkImageUrl(text: string): URL {
  const problem = problemOf(text);
  if (typeof problem !== 'string') return problem;
  throw new CommandError('SLW_CLI_DATA_IMAGE', `the URL of the ISO: ${problem}`);
}

function problemOf(text: string): URL | string {
  if (text.length > LONGEST) return `expected at most ${LONGEST} characters, found ${text.length}`;
  const url = URL.parse(text);
  if (url === null || !/^https?:\/\/[!-~]+$/.test(text)) {
    return `expected http://HOST/PATH or https://HOST/PATH, which is all that Ironic fetches, with everything outside of ASCII percent-encoded, found ${JSON.stringify(withoutUser(text))}`;
  }
  if (url.username !== '' || url.password !== '') {
    return 'expected no user name or password in it, for everybody who sees the DataImage sees them; serve the ISO where the BMC network alone reaches it';
  }
  return url;
}

/** Nobody wants a password in a log. */
const withoutUser = (text: string): string => text.replace(/\/\/[^/]*@/, '//…@');
