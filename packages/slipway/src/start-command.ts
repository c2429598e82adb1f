import { join, resolve } from 'node:path';
import { featureGates } from '@slipway/fleet/feature-gates';
import { Command, InvalidArgumentError, Option } from 'commander';
import { featureGatesOption, usualPort } from './cli/options.ts';
import { MOST_MACHINES, USUAL_MACHINES } from './fleet/shares.ts';
import type { StartOptions } from './start.ts';

const root = resolve(import.meta.dirname, '../../..');

export const startCommand = (): Command =>
  new Command('start')
    .summary(
      'run everything on this machine: a real API server, etcd, the controllers, and a fleet of simulated machines',
    )
    .description(
      'Starts a real etcd and kube-apiserver in a data directory of its own, installs CRDs and policies, and runs the controllers, the machine config server and a fleet of simulated machines against it until Ctrl-C. `npm start` is this command.',
    )
    .option('--data-dir <directory>', 'where everything is kept', join(root, '.slipway'))
    .addOption(
      new Option('--port <number>', `the API server’s port (default: ${usualPort}, else a free one)`).argParser(
        parsePort,
      ),
    )
    .option('--fresh', 'begin with an empty cluster', false)
    .addOption(
      new Option(
        '--nodes <number>',
        'how many simulated machines there are at least, each a directory with the real daemon; 0 for none at work',
      )
        .default(USUAL_MACHINES, `${USUAL_MACHINES}: 3 masters, 3 workers, 2 of the custom pool infra`)
        .argParser(parseNodes),
    )
    .addOption(featureGatesOption().default(Object.fromEntries(featureGates.map((name) => [name, true])), 'all on'))
    .addHelpText(
      'after',
      `
Examples:
  npm start
  npm start -- --fresh
  npm start -- --nodes 100
  npm start -- --data-dir /tmp/slipway --port 7443`,
    )
    .action(async (options: StartOptions) => (await import('./start.ts')).start(options));

function parseNodes(text: string): number {
  const nodes = text === '' ? Number.NaN : Number(text);
  if (Number.isInteger(nodes) && nodes >= 0 && nodes <= MOST_MACHINES) return nodes;
  throw new InvalidArgumentError(
    `expected a number from 0 to ${MOST_MACHINES}, found ${JSON.stringify(text)}: every simulated machine takes memory and a part of one processor`,
  );
}

function parsePort(text: string): number {
  const port = Number(text);
  if (Number.isInteger(port) && port >= 1 && port <= 65_535) return port;
  throw new InvalidArgumentError(`expected a number from 1 to 65535, found ${JSON.stringify(text)}`);
}
