import { Command } from 'commander';
import { type Io, processIo } from '../cli/io.ts';
import { DEFAULT_NAMESPACE, outputOption, withClusterOptions, withRegistryOptions } from '../cli/options.ts';
import type { InspectOptions } from './inspect.ts';
import type { MigrateOptions } from './migrate.ts';
import type { StreamsOptions } from './streams.ts';

export const streamsCommand = (io: Io = processIo): Command =>
  withClusterOptions(new Command('streams'))
    .summary('show OS image streams and their pools, or migrate a pool to another stream')
    .description(
      'Shows the OS image streams of the payload: their images, the default for new pools, which are deprecated or blocked, and the pools on each. Read-only.',
    )
    // Without this, `streams` would consume the flags of its subcommands.
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
    .summary('show the OS image streams of a release image, without a cluster')
    .description(
      'Reads the image list of a release image (or a file), queries the registry for labels and sizes of its OS images, and shows the resulting streams: what a cluster of this release would offer its pools, and the problems it would report. Needs no cluster.',
    )
    .argument('[RELEASE_IMAGE]', 'release image, by digest or tag')
    .option('--image-references <FILE>', '/release-manifests/image-references of a release, instead of RELEASE_IMAGE')
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
    .summary('migrate a pool to another OS image stream, after showing the effects')
    .description(
      'Shows what migrating a pool to a stream would do (machines, reboots, evicted pods, blocking PodDisruptionBudgets, waves, time, download per machine, what to watch), then sets spec.osImageStream of the pool. Exit codes with --dry-run are those of slipway plan: 0 if nothing changes, 2 or 3 if something does, 1 if it would be refused. Without --dry-run: 0 if spec.osImageStream is set.',
    )
    .argument('<POOL>', 'pool to migrate')
    .argument('<STREAM>', 'target stream')
    .option('--dry-run', 'show the effects only; change nothing')
    .option('--namespace <name>', 'namespace of Slipway', DEFAULT_NAMESPACE)
    .addOption(outputOption(['text', 'json']))
    .option('-v, --verbose', 'list every machine, pod and reason by name')
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
