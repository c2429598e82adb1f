import { PassThrough } from 'node:stream';
import { text as readText } from 'node:stream/consumers';
import { expect, it } from 'vitest';
import { toArtifactJson, toJson, write, writeArtifact, type WriteOptions } from './io.ts';

async function print(action: (stream: PassThrough) => Promise<void>): Promise<string> {
  const stream = new PassThrough();
  await action(stream);
  stream.end();
  return readText(stream);
}

const LINE = 'Degraded: TOKEN=abc12\n';

it.each<[WriteOptions | undefined, string]>([
  [undefined, 'Degraded: TOKEN=(hidden)\n'],
  [{ showSecrets: false }, 'Degraded: TOKEN=(hidden)\n'],
  [{ showSecrets: true }, LINE],
])('text for a terminal or a CI log shows secrets only on request: %j', async (options, expected) => {
  expect(await print((stream) => write(stream, LINE, options))).toBe(expected);
  expect(JSON.parse(toJson({ reason: [LINE] }, options))).toEqual({ reason: [expected] });
});

it('a config that is applied or booted is complete', async () => {
  expect(await print((stream) => writeArtifact(stream, LINE))).toBe(LINE);
  expect(JSON.parse(toArtifactJson({ contents: LINE }))).toEqual({ contents: LINE });
});
