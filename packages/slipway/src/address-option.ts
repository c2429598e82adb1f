import { InvalidArgumentError } from 'commander';

export interface ListenAddress {
  host: string;
  port: number;
}

/** Reads host:port, with an IPv6 host in brackets. */
export const addressParser =
  (example: string) =>
  (text: string): ListenAddress => {
    const match = /^(.+):(\d{1,5})$/.exec(text);
    const port = Number(match?.[2]);
    if (match?.[1] === undefined || port > 65_535) {
      throw new InvalidArgumentError(`expected host:port, for example ${example}, found ${JSON.stringify(text)}`);
    }
    return { host: match[1].replaceAll(/[[\]]/g, ''), port };
  };
