import { Command } from 'commander';
import { type Io, processIo } from '../cli/io.ts';
import { addTo, duration, withManifestOptions, withRegistryOptions } from '../cli/options.ts';
import type { BootstrapOptions } from './bootstrap.ts';

export const bootstrapCommand = (io: Io = processIo): Command =>
  withRegistryOptions(withManifestOptions(new Command('bootstrap')))
    .summary('create everything the first machines need from manifests, without a cluster')
    .description(
      'Renders every pool from manifests and creates a CA, a serving certificate, tokens, and the stubs that machines start with. slipway server --bootstrap serves the directory. It contains private keys, so only you can read it. Its manifests are for the new cluster. With --image-references, each pool gets the OS of its stream (spec.osImageStream, or the default of the release), and the cluster gets an OSImageStream.',
    )
    .requiredOption('--out <DIR>', 'output directory; must be empty or not exist yet')
    .requiredOption(
      '--server-url <URL>',
      'address of the server for machines, such as https://api-int.example.com:22623',
    )
    .requiredOption('--kubeconfig-for-nodes <FILE>', 'bootstrap kubeconfig for the kubelet of a joining machine')
    .option('--ca <FILE>', 'CA of the API server for joining machines, in PEM (default: from the kubeconfig)')
    .option('--server-host <HOST>', 'additional name or address for the server’s certificate; repeatable', addTo)
    .option('--pool <NAME>', 'create only this pool; repeatable (default: all pools)', addTo)
    .addOption(duration('--token-lifetime', 'how long machines can start with the stubs (default: 24h)'))
    .option('--keep-from <DIR>', 'reuse the CA and tokens of an earlier --out, so that its stubs stay valid')
    .option(
      '--image-references <FILE>',
      '/release-manifests/image-references of a release, whose OS image streams pools follow from the start',
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
