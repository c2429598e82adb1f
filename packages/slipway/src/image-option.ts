import { InvalidArgumentError } from 'commander';

/** It becomes part of a unit's command line. */
export function parseImage(text: string): string {
  if (/^[a-zA-Z0-9][a-zA-Z0-9._:/@-]{0,446}$/.test(text)) return text;
  throw new InvalidArgumentError(
    `expected an image such as registry.example.com/os@sha256:…, found ${JSON.stringify(text)}`,
  );
}
