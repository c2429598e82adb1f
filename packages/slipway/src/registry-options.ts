import { type Command, InvalidArgumentError, Option } from 'commander';
import { addTo } from './list-option.ts';

/** How registries are spoken to. */
export interface RegistryAccessFlags {
  registriesConf?: string | undefined;
  registryCa?: string | undefined;
  plainHttp?: string[] | undefined;
}

/** How images are asked for. */
export interface RegistryFlags extends RegistryAccessFlags {
  pullSecret?: string;
  arch: string;
}

export const withRegistryOptions = (command: Command): Command =>
  withRegistryAccessOptions(command)
    .option('--pull-secret <FILE>', 'credentials of registries, as .dockerconfigjson has them')
    .addOption(
      new Option('--arch <NAME>', 'the machines’ architecture, for images of several')
        .choices(['amd64', 'arm64', 'ppc64le', 's390x'])
        .default('amd64'),
    );

/** The same for who takes the pull secret from somewhere else. */
export const withRegistryAccessOptions = (command: Command): Command =>
  command
    .option('--registries-conf <FILE>', 'mirrors of registries, as containers-registries.conf(5) has them')
    .option('--registry-ca <FILE>', 'certificate authorities of registries, in PEM, beside those of the system')
    .option('--plain-http <HOST:PORT>', 'speak to this registry without TLS; repeatable', addHost);

function addHost(text: string, before?: string[]): string[] {
  if (/^(?:[a-zA-Z0-9.-]+|\[[0-9a-fA-F:.]+\])(?::\d{1,5})?$/.test(text)) return addTo(text, before);
  throw new InvalidArgumentError(`expected a host such as registry.local:5000, found ${JSON.stringify(text)}`);
}
