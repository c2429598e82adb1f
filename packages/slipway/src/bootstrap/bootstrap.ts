import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import {
  type CodedProblem,
  firstBootOptions,
  nextTokens,
  ProblemList,
  type ProvisioningToken,
  serverAddress,
} from '@slipway/fleet';
import { issueServing, makeAuthority, withoutExpired } from '@slipway/base/certificates';
import { CommandError } from '../cli/errors.ts';
import { type Io, write, writeLines } from '../cli/io.ts';
import type { ManifestOptions, RegistryFlags } from '../cli/options.ts';
import { version } from '../cli/program.ts';
import { reportProblems } from '../cli/run.ts';
import { readManifests } from '../manifests/documents.ts';
import { findPool, type OfflineFleet, buildOfflineFleet, type Rendering, formatRendering } from '../render/render.ts';
import { buildBundleFiles, isBuiltIn, stubFile } from './bundle.ts';
import { dayZeroStreams, readSavedCredentials, readNodeAccess } from './inputs.ts';
import { refuseFull, writeDirectory } from './write-directory.ts';

export interface BootstrapOptions extends ManifestOptions, RegistryFlags {
  out: string;
  serverUrl: string;
  serverHost?: string[];
  kubeconfigForNodes: string;
  ca?: string;
  pool?: string[];
  tokenLifetime?: number;
  keepFrom?: string;
  imageReferences?: string;
}

export const runBootstrap = (options: BootstrapOptions, io: Io): Promise<void> =>
  reportProblems(io, async () => {
    const { out, namespace, controllerVersion = version } = options;
    const now = new Date();
    const settings = firstBootOptions({
      serverUrl: options.serverUrl,
      serverHosts: options.serverHost,
      tokenLifetime: options.tokenLifetime,
    });
    const address = serverAddress(settings, undefined);
    if (address === undefined)
      throw new CommandError(
        'SLW_CLI_USAGE',
        '--server-url: expected an address such as https://api-int.example.com:22623',
      );
    await refuseFull(out);
    const node = await readNodeAccess(options.kubeconfigForNodes, options.ca);
    const kept = options.keepFrom === undefined ? undefined : await readSavedCredentials(options.keepFrom, now);

    const manifests = await readManifests(options.filename, io.stdin, namespace);
    const streams = await dayZeroStreams(options, manifests);
    const offline = buildOfflineFleet(manifests, { ...options, controllerVersion }, streams?.streams);
    const renderings = await renderAll(offline, options.pool);
    const authority =
      kept === undefined ? await makeAuthority(now, settings.authority.validity) : withoutExpired(kept.authority, now);
    const tokens = tokensFor(renderings, kept?.tokens, now, settings.tokenLifetime);
    const files = buildBundleFiles({
      renderings,
      builtIn: offline.fleet.machineConfigs.filter(isBuiltIn),
      osImageStream: streams?.object,
      controllerVersion,
      namespace,
      serverUrl: address.url,
      authority,
      serving: await issueServing(authority, address.hosts, now, settings.serving.validity),
      tokens,
      node,
    });
    await writeDirectory(out, files);
    const notes = [
      ...(streams?.notes ?? []),
      ...offline.notes,
      ...renderings.flatMap((each) => formatRendering(offline, each)),
    ];
    await writeLines(io.stderr, notes);
    await write(io.stdout, describeResult(options, { renderings, tokens, hasStreams: streams !== undefined }));
  });

function tokensFor(
  renderings: readonly Rendering[],
  kept: ReadonlyMap<string, readonly ProvisioningToken[]> | undefined,
  now: Date,
  lifetime: number,
): ReadonlyMap<string, readonly ProvisioningToken[]> {
  const names = renderings.map(({ pool }) => pool.metadata.name);
  return new Map(names.map((name) => [name, nextTokens(kept?.get(name) ?? [], now.getTime(), lifetime, mint).tokens]));
}

/** Renders every pool, or throws the problems of all pools. */
async function renderAll(offline: OfflineFleet, names: readonly string[] | undefined): Promise<Rendering[]> {
  const pools =
    names === undefined ? offline.fleet.pools : [...new Set(names)].map((name) => findPool(offline.fleet, name));
  const renderings: Rendering[] = [];
  const problems = new Map<string, CodedProblem>();
  for (const pool of pools) {
    try {
      renderings.push(await offline.render(pool));
    } catch (error) {
      if (!(error instanceof ProblemList)) throw error;
      // Two pools can fail on the same MachineConfig; report it once.
      for (const problem of error.problems) problems.set(problem.message, problem);
    }
  }
  if (problems.size > 0) throw new ProblemList([...problems.values()]);
  return renderings;
}

const GATE_HINT = `  4. Run the controllers with OSStreams on (slipway controller --feature-gates OSStreams=true, or FeatureGate cluster), so
     that pools stay on their streams.
`;

const mint = (): string => randomBytes(32).toString('base64url');

interface Result {
  renderings: readonly Rendering[];
  tokens: ReadonlyMap<string, readonly ProvisioningToken[]>;
  hasStreams: boolean;
}

function describeResult({ out, serverUrl }: BootstrapOptions, { renderings, tokens, hasStreams }: Result): string {
  const stubs = renderings.map(({ pool, rendered }) => {
    const { name } = pool.metadata;
    const until = tokens.get(name)?.[0]?.expires ?? '';
    const os = rendered.osStream === null ? '' : ` (OS image stream ${rendered.osStream})`;
    return `  ${join(out, stubFile(name))}   starts machines of pool ${name} with ${rendered.name}${os}; valid until ${until}`;
  });
  return `${out} is ready. It contains private keys and tokens: keep it private.

${stubs.join('\n')}

Next:
  1. On the machine behind ${serverUrl}, run: slipway server --bootstrap ${out}
  2. Start machines with the stub of their pool as Ignition config or user data.
  3. When the cluster exists, run slipway install, apply your own manifests, then apply ${join(out, 'manifests')} as a
     member of the group slipway:break-glass, because no other user may write rendered and built-in MachineConfigs:
     kubectl apply -f ${join(out, 'manifests')} --as ADMIN --as-group system:masters --as-group slipway:break-glass
${hasStreams ? GATE_HINT : ''}`;
}
