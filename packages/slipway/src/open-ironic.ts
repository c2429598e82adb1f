// The client for Ironic, as the flags of a command ask for it.
import type { Ironic } from '@slipway/fleet/hosts';
import { CommandError } from './cli/errors.ts';
import { readSmallFile } from './cli/io.ts';
import type { IronicFlags } from './cli/options.ts';

export interface IronicSettings {
  /** Opens no connection yet. */
  readonly open: () => Ironic;
  readonly besideOperator: boolean;
}

/** Reads what the flags name; undefined: bare-metal hosts are left alone. */
export async function ironicSettings(flags: IronicFlags): Promise<IronicSettings | undefined> {
  const { ironicUrl: url, ironicCa, ironicAuth, dataImagesBesideOperator: besideOperator = false } = flags;
  if (url === undefined) {
    refuseOthers(flags);
    return undefined;
  }
  const { createIronic, parseAuth } = await import('@slipway/controllers');
  const read = async (flag: string, path: string | undefined): Promise<string | undefined> =>
    path === undefined ? undefined : new TextDecoder().decode(await readSmallFile(flag, path));
  const auth = await read('--ironic-auth', ironicAuth);
  const options = {
    url,
    ca: await read('--ironic-ca', ironicCa),
    auth: auth === undefined ? undefined : parseAuth(auth),
  };
  // What is wrong with them is said now, and not when the first host comes.
  await createIronic(options).close();
  return { open: () => createIronic(options), besideOperator };
}

function refuseOthers({ ironicCa, ironicAuth, dataImagesBesideOperator }: IronicFlags): void {
  const given = [
    ironicCa !== undefined && '--ironic-ca',
    ironicAuth !== undefined && '--ironic-auth',
    dataImagesBesideOperator === true && '--data-images-beside-operator',
  ].find((flag) => flag !== false);
  if (given === undefined) return;
  throw new CommandError(
    'SLW_CLI_USAGE',
    `${given} says how Ironic is used: expected --ironic-url with it, found none`,
  );
}
