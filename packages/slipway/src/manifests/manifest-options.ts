import { type Command, InvalidArgumentError, Option } from 'commander';
import { parseImage } from '../image-option.ts';
import { addTo } from '../list-option.ts';
import { defaultNamespace } from '../namespace.ts';

/** What every command that reads manifests and renders takes. */
export interface ManifestOptions extends RenderOptions {
  filename: string[];
}

/** What a render needs to know beside the manifests. */
export interface RenderOptions extends RemoteOptions {
  namespace: string;
  osImage?: string;
  osExtensionsImage?: string;
  daemonImage?: string;
  controllerVersion?: string;
}

/** How remote content may be fetched. */
export interface RemoteOptions {
  fetch: boolean;
  allowHost?: string[];
  allowAddress?: string[];
  fetchTimeout: number;
}

export const withManifestOptions = (command: Command): Command =>
  withRenderOptions(
    command.addOption(
      new Option(
        '-f, --filename <PATH>',
        'manifests: a file, a directory with everything below it, or - for stdin; repeatable',
      )
        .argParser(addTo)
        .makeOptionMandatory(),
    ),
  );

/** The same without the manifests themselves. */
export const withRenderOptions = (command: Command): Command =>
  command
    .option('--namespace <name>', 'where the ConfigMap with the OS images lives', defaultNamespace)
    .option('--os-image <IMAGE>', 'the platform’s OS image, before that of the manifests', parseImage)
    .option('--os-extensions-image <IMAGE>', 'the image that OS extensions come from, likewise', parseImage)
    .option('--daemon-image <IMAGE>', 'the image that new machines take the slipway program from', parseImage)
    .option('--controller-version <VERSION>', 'render as a controller of this version (default: this program’s)')
    .option('--no-fetch', 'refuse MachineConfigs that refer to remote content instead of fetching it')
    .option('--allow-host <HOST>', 'fetch only from this host, such as *.example.com; repeatable', addTo)
    .option('--allow-address <CIDR>', 'connect to these loopback, link-local or metadata addresses; repeatable', addTo)
    .addOption(
      new Option('--fetch-timeout <SECONDS>', 'for the remote content of one MachineConfig')
        .default(300)
        .argParser(readSeconds),
    );

function readSeconds(text: string): number {
  const seconds = Number(text);
  if (Number.isFinite(seconds) && seconds > 0 && seconds <= 86_400) return seconds;
  throw new InvalidArgumentError('Expected a number of seconds from 1 to 86400.');
}
