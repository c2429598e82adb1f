import { InvalidArgumentError } from 'commander';

/** Sets after the first have a number behind it, and 253 characters are all that a name may have. */
const LONGEST = 240;
const NAME = /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*$/;

export function parseSetName(text: string): string {
  if (NAME.test(text) && text.length <= LONGEST) return text;
  throw new InvalidArgumentError(
    `expected the name of an object: at most ${LONGEST} lower case letters, digits, - and . such as release-4.22.0, found ${JSON.stringify(text.slice(0, 300))}`,
  );
}

/** What a text is as a name: `4.22.0+Build_7` becomes `4.22.0-build-7`; '' where nothing of it can be in one. */
export const nameFrom = (text: string): string =>
  text
    .toLowerCase()
    .replaceAll(/[^a-z0-9.]+/g, '-')
    .split('.')
    .map((part) => part.replaceAll(/^-+|-+$/g, ''))
    .filter((part) => part !== '')
    .join('.')
    .slice(0, LONGEST / 2)
    .replaceAll(/[-.]+$/g, '');
