import { driveEntry, isInDrive } from '@slipway/fleet/reports';
import { type Client, createClient } from '@slipway/kube';
import { CommandError } from '../cli/errors.ts';
import { type Io, write } from '../cli/io.ts';
import { type ClusterOptions, connect, stopSignal } from '../cli/program.ts';
import { safeText } from '../cli/terminal.ts';
import { askReboot, needsReboot } from './ask-reboot.ts';
import { getHost, type HostName, knowing } from './find-host.ts';
import { checkImageUrl } from './image-url.ts';
import { checkIso } from './iso-check.ts';
import { nextWords } from './next-words.ts';
import { type Outcome, sayOutcome } from './outcome.ts';
import { waitForDrive } from './wait-for-drive.ts';
import { writeDataImage } from './write-data-image.ts';

export interface AttachOptions extends ClusterOptions {
  namespace: string;
  reboot?: boolean;
  immediate?: boolean;
  wait?: boolean;
  /** Seconds. */
  timeout: number;
  check: boolean;
  output: 'text' | 'json';
}

export async function runAttach(name: string, url: string, options: AttachOptions, io: Io): Promise<void> {
  if (options.immediate === true && options.reboot === true) {
    throw new CommandError(
      'SLW_CLI_USAGE',
      'slipway dataimage attach: --immediate attaches without touching the host, --reboot reboots it for that: give one of them',
    );
  }
  const parsed = checkImageUrl(url);
  const transport = await connect(options);
  try {
    const host = { namespace: options.namespace, name };
    const client = createClient(transport);
    const warnings = options.check ? await warningsOf(client, host, parsed, io) : [];
    const outcome = await attach(client, host, { url, warnings }, options);
    if (options.wait !== true || outcome.reached === true) return await sayOutcome(io, options, outcome);
    if (options.output === 'text') await sayOutcome(io, options, outcome);
    const awaited = { url, reboot: outcome.rebooted };
    if (!(await waitForDrive({ transport, host, awaited, timeout: options.timeout, io, signal: stopSignal() }))) return;
    const message = `${url} is in the drive of ${host.namespace}/${name}.`;
    await sayOutcome(io, options, { ...outcome, reached: true, message, next: '' });
  } finally {
    await transport.close();
  }
}

/** Said before anything is written, while Ctrl-C still helps. */
async function warningsOf(client: Client, host: HostName, url: URL, io: Io): Promise<string[]> {
  // A host that is not there is worth no questions to anybody else.
  await getHost(client, host);
  const checked = await checkIso(url);
  if (checked.ok) return [];
  const warning = `${url.href} ${checked.problem}. That is as seen from here, Ironic and the BMC may reach more: it is asked for all the same. --no-check leaves this out`;
  await write(io.stderr, `warning: ${safeText(warning)}\n`);
  return [warning];
}

async function attach(
  client: Client,
  name: HostName,
  { url, warnings }: { url: string; warnings: readonly string[] },
  { immediate = false, reboot = false }: AttachOptions,
): Promise<Outcome> {
  const host = await getHost(client, name);
  const { image, changed } = await knowing(client, () => writeDataImage(client, name, { url, immediate }));
  const entry = driveEntry(image, host);
  const said = `DataImage ${name.namespace}/${name.name}`;
  const message = changed
    ? `${said} asks for ${url} in the drive of its host.`
    : `${said} asked for ${url} already: nothing was written.`;
  const isThere = isInDrive(entry, url);
  // Who runs a command twice does not want a second reboot.
  const rebooted = reboot && !isThere && needsReboot(host);
  if (rebooted) await askReboot(client, host, `${said} asks for ${url}`);
  const asked = { action: 'attach' as const, ...name, immediate, reboot: rebooted };
  return {
    action: 'attach',
    namespace: name.namespace,
    host: name.name,
    url,
    changed,
    rebooted,
    reached: isThere ? true : null,
    warnings,
    message,
    next: isThere ? 'It is in the drive.' : nextWords(asked, entry.host),
  };
}
