import { Option, InvalidArgumentError, type Command } from 'commander';
import { addTo } from './list-option.ts';

/** The options of the controllers that make certificates, tokens and stubs. Times become milliseconds. */
export const withFirstBootOptions = (command: Command): Command =>
  command
    .option(
      '--server-url <url>',
      'where new machines find the machine config server: https://host:22623 (default: by Infrastructure cluster)',
    )
    .addOption(
      new Option('--server-host <host>', 'another name of the server, for its certificate; again for more').argParser(
        addTo,
      ),
    )
    .option('--api-server-url <url>', 'where new machines find the API server (default: kube-public/cluster-info)')
    .option(
      '--machine-api-namespace <name>',
      'where MachineSets of the Machine API live (default: openshift-machine-api)',
    )
    .option('--cluster-api-namespace <name>', 'where MachineSets of Cluster API live (default: openshift-cluster-api)')
    .addOption(new Option('--stub-tokens', 'put provisioning tokens into stubs (default: except on OpenShift)'))
    .addOption(new Option('--no-stub-tokens', 'put none into stubs; the server then needs --allow-anonymous'))
    .addOption(duration('--token-lifetime', 'how long a provisioning token is valid (default: 24h)'))
    .addOption(duration('--bootstrap-token-lifetime', 'how long a token of a joining kubelet is valid (default: 24h)'))
    .addOption(duration('--ca-validity', 'how long a CA of the server is valid (default: 3650d)'))
    .addOption(duration('--ca-refresh', 'the age at which it gets a successor (default: 2920d)'))
    .addOption(duration('--serving-validity', 'how long a certificate of the server is valid (default: 365d)'))
    .addOption(duration('--serving-refresh', 'the age at which it is renewed (default: 240d)'));

const units: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

export const duration = (flag: string, help: string): Option =>
  new Option(`${flag} <duration>`, help).argParser(parseDuration);

/** In milliseconds. */
function parseDuration(text: string): number {
  const [, number = '', unit = ''] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  const ms = Number(number) * (units[unit] ?? 0);
  if (ms > 0) return ms;
  throw new InvalidArgumentError(`expected a number and s, m, h or d, such as 24h, found ${JSON.stringify(text)}`);
}
