import { Command } from 'commander';
import { type Io, processIo } from '../cli/io.ts';
import { addTo, duration, withManifestOptions, withRegistryOptions } from '../cli/options.ts';
import type { BootstrapOptions } from './bootstrap.ts';

export const bootstrapCommand = (io: Io = processIo): Command =>
  withRegistryOptions(withManifestOptions(new Command('bootstrap')))
    .summary('make all that first machines need from manifests, without a cluster')
    .description(
      'Renders every pool from manifests and makes a CA, a serving certificate, tokens and the stubs that machines are started with. The directory is what slipway server --bootstrap serves; it holds private keys, so nobody else may read it. The manifests in it are for the cluster that comes to be. With --image-references each pool gets the OS of its stream (spec.osImageStream, else the default of the release), and the cluster an OSImageStream.',
    )
    .requiredOption('--out <DIR>', 'where to; it must be empty or not there yet')
    .requiredOption('--server-url <URL>', 'where machines find the server, such as https://api-int.example.com:22623')
    .requiredOption('--kubeconfig-for-nodes <FILE>', 'the kubeconfig that a joining machine’s kubelet starts with')
    .option('--ca <FILE>', 'the API server’s CA for joining machines, in PEM (default: that of the kubeconfig)')
    .option('--server-host <HOST>', 'one more name or address for the server’s certificate; repeatable', addTo)
    .option('--pool <NAME>', 'only this pool; repeatable (default: every pool)', addTo)
    .addOption(duration('--token-lifetime', 'how long machines can be started with the stubs (default: 24h)'))
    .option('--keep-from <DIR>', 'go on with the CA and tokens of an earlier --out, so that its stubs stay good')
    .option(
      '--image-references <FILE>',
      'the release’s /release-manifests/image-references: its OS image streams are for pools from day zero',
    )
    .addHelpText(
      'after',
      `
Examples:
  slipway bootstrap -f fleet/ --out boot/ --server-url https://10.0.0.5:22623 --kubeconfig-for-nodes node.kubeconfig
  slipway server --bootstrap boot/
  slipway bootstrap -f fleet/ --image-references image-references --pull-secret pull-secret.json --out boot/ …
  slipway bootstrap -f fleet/ --out boot-2/ --keep-from boot/ --server-url … --kubeconfig-for-nodes …`,
    )
    .action(async (options: BootstrapOptions) => (await import('./bootstrap.ts')).runBootstrap(options, io));
