import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fleetDirectory } from '../testing/fleet-directory.ts';
import { runCommand } from '../testing/run-command.ts';
import { streamsCommand } from './command.ts';
import './inspect.ts'; // Preloaded, so that loading does not count against a test's timeout.

let dir: string;
beforeAll(async () => {
  const imageStream = (tags: object[]) => ({ kind: 'ImageStream', metadata: { name: '4.22.0' }, spec: { tags } });
  const cli = { name: 'cli', from: { kind: 'DockerImage', name: 'registry.example.com/cli@sha256:0' } };
  dir = await fleetDirectory({
    'no-os.json': imageStream([cli]),
    'other.json': { kind: 'Pod' },
    'secret.json': { auths: 'hunter2' },
    conf: 'unqualified = [',
  });
});
afterAll(() => rm(dir, { recursive: true }));

const inspect = (...args: string[]) => runCommand(streamsCommand, ['inspect', ...args]);
const references = (name: string): string[] => ['--image-references', join(dir, name)];

describe('slipway streams inspect without a registry', () => {
  it('reports that a release has no streams, in text and in JSON', async () => {
    const { code, out } = await inspect(...references('no-os.json'));
    expect(code).toBe(0);
    expect(out).toContain('version 4.22.0');
    expect(out).toContain('This release has no OS image streams');
    const { out: json } = await inspect(...references('no-os.json'), '-o', 'json');
    expect(JSON.parse(json)).toMatchObject({ version: '4.22.0', defaultStream: null, streams: [], problems: [] });
  });

  it('refuses a file that is not a list of images', async () => {
    const { code, out, err } = await inspect(...references('other.json'));
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toMatch(/expected ImageStream, found "Pod".*\[SLW_STREAM_SOURCE_FAILED\]$/m);
  });

  it.each([
    ['neither an image nor a file', () => [], 'SLW_CLI_USAGE'],
    ['both', () => ['registry.example.com/release:1', ...references('no-os.json')], 'SLW_CLI_USAGE'],
    ['a missing file', () => references('nowhere'), 'SLW_CLI_FILE'],
    [
      'an invalid pull secret',
      () => [...references('no-os.json'), '--pull-secret', join(dir, 'secret.json')],
      'SLW_REGISTRY_PULL_SECRET',
    ],
    [
      'invalid mirrors',
      () => [...references('no-os.json'), '--registries-conf', join(dir, 'conf')],
      'SLW_REGISTRY_MIRRORS',
    ],
  ])('refuses %s without printing secrets', async (_, args, code) => {
    const { thrown, err } = await inspect(...args());
    expect(thrown).toBe(code);
    expect(err).not.toContain('hunter2');
  });

  it('refuses an invalid host', async () => {
    const { thrown, err } = await inspect(...references('no-os.json'), '--plain-http', 'http://x/');
    expect({ thrown, err }).toEqual({
      thrown: 'commander.invalidArgument',
      err: expect.stringContaining('expected a host'),
    });
  });
});
