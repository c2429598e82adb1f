import { Command } from 'commander';
import { type Io, processIo } from '../cli/io.ts';
import { DEFAULT_NAMESPACE, outputOption, withClusterOptions, withRegistryOptions } from '../cli/options.ts';
import type { InspectOptions } from './inspect.ts';
import type { MigrateOptions } from './migrate.ts';
import type { StreamsOptions } from './streams.ts';

export const streamsCommand = (io: Io = processIo): Command =>
  withClusterOptions(new Command('streams'))
    .summary('show the OS image streams and which pools are on them, or move a pool to another')
    .description(
      'Shows the streams of OS images that the payload brings: their images, which one new pools get, which are near their end, and the pools on each. Reads only.',
    )
    // Else an option behind the name of a subcommand would be taken for one of ours.
    .enablePositionalOptions()
    .addOption(outputOption(['table', 'json']))
    .addHelpText(
      'after',
      `
Examples:
  slipway streams
  slipway streams -o json | jq '.pools[] | {name, stream, state}'
  slipway streams inspect quay.io/openshift-release-dev/ocp-release:4.22.0-x86_64 --pull-secret pull-secret.json
  slipway streams migrate infra rhel-10 --dry-run`,
    )
    .action(async (options: StreamsOptions) => (await import('./streams.ts')).runStreams(options, io))
    .addCommand(inspectCommand(io))
    .addCommand(migrateCommand(io));

const inspectCommand = (io: Io): Command =>
  withRegistryOptions(new Command('inspect'))
    .summary('show the OS image streams of a release image, before a cluster has it')
    .description(
      'Reads the list of images out of a release image (or a file), asks the registry for the labels and sizes of its OS images, and shows the streams they make: what a cluster of this release would offer its pools, and what it would say about it. Needs no cluster.',
    )
    .argument('[RELEASE_IMAGE]', 'the release image, by digest or tag')
    .option('--image-references <FILE>', 'instead of a release image: its /release-manifests/image-references')
    .addOption(outputOption(['text', 'json']))
    .addHelpText(
      'after',
      `
Examples:
  slipway streams inspect quay.io/openshift-release-dev/ocp-release:4.22.0-x86_64 --pull-secret pull-secret.json
  slipway streams inspect --image-references image-references.json --pull-secret pull-secret.json
  slipway streams inspect registry.local:5000/release@sha256:… --registry-ca ca.crt --registries-conf registries.conf -o json`,
    )
    .action(async (image: string | undefined, options: InspectOptions) =>
      (await import('./inspect.ts')).runInspect(image, options, io),
    );

const migrateCommand = (io: Io): Command =>
  withClusterOptions(withRegistryOptions(new Command('migrate')))
    .summary('move a pool to another OS image stream, after showing what that means')
    .description(
      'Shows what moving a pool to a stream leads to (machines, reboots, evicted pods and budgets in the way, waves, time, how much each machine downloads, what to watch), then sets spec.osImageStream of the pool. With --dry-run it only shows. Exits as slipway plan does with --dry-run: 0 when nothing changes, 2 or 3 when something does, 1 when it would be refused; without it 0 when the pool was told.',
    )
    .argument('<POOL>', 'the pool')
    .argument('<STREAM>', 'the stream it is to be on')
    .option('--dry-run', 'show it, and change nothing')
    .option('--namespace <name>', 'where Slipway runs', DEFAULT_NAMESPACE)
    .addOption(outputOption(['text', 'json']))
    .option('-v, --verbose', 'every machine, pod and reason by name')
    .addHelpText(
      'after',
      `
Examples:
  slipway streams migrate infra rhel-10 --dry-run
  slipway streams migrate infra rhel-10
  slipway streams migrate infra rhel-10 --dry-run -o json | jq '.download.bytesPerMachine'`,
    )
    .action(async (pool: string, stream: string, options: MigrateOptions) =>
      (await import('./migrate.ts')).runMigrate(pool, stream, options, io),
    );
