import { describe, expect, it } from 'vitest';
import { runCommand } from '../testing/run-command.ts';
import { bootImagesCommand } from './command.ts';
import './restore.ts'; // Preloaded, so that loading does not count against a test's timeout.

const run = (...args: string[]) => runCommand(bootImagesCommand, args);

describe('slipway bootimages', () => {
  it.each([
    ['neither a version nor --release', ['restore', 'worker-a'], 'SLW_CLI_USAGE'],
    ['both', ['restore', 'worker-a', '--to', '1', '--release'], 'SLW_CLI_USAGE'],
    ['no name', ['restore', '--release'], 'commander.missingArgument'],
    ['an unknown API', ['history', 'a', '--api', 'x'], 'commander.invalidArgument'],
    ['an unknown output format', ['-o', 'yaml'], 'commander.invalidArgument'],
  ])('refuses %s before connecting to a cluster', async (_, args, code) => {
    const { thrown, out } = await run(...args, '--kubeconfig', '/nowhere');
    expect({ thrown, out }).toEqual({ thrown: code, out: '' });
  });

  it.each([[[]], [['adopt']], [['history']], [['restore']]])('shows examples with %s --help', async (args) => {
    const { out } = await run(...args, '--help');
    expect(out).toContain('Examples:\n  slipway bootimages');
  });
});
