// Renders a pool without a cluster, with the same functions as the render controller.
import {
  generatedByAnnotation,
  type MachineConfig,
  machineConfigKind,
  type MachineConfigPool,
  MACHINE_CONFIGURATION_GROUP,
  OS_IMAGES_CONFIG_MAP,
  osStreamAnnotation,
  poolLabel,
  RENDERED_PREFIX,
} from '@slipway/api';
import {
  type CodedProblem,
  formatProblem,
  missingBuiltIn,
  missingPools,
  namedImages,
  osImagesOfPool,
  type PoolStream,
  prepareRender,
  ProblemList,
  renderPool,
  type RenderResult,
  type Streams,
  toStreams,
} from '@slipway/fleet';
import { count, listNames } from '@slipway/base/text';
import { formatUnselected, unselectedMachineConfigs } from '@slipway/fleet/check';
import { CommandError } from '../cli/errors.ts';
import { type Io, toArtifactJson, writeArtifact, writeLines } from '../cli/io.ts';
import type { ManifestOptions, RenderOptions } from '../cli/options.ts';
import { version } from '../cli/program.ts';
import { reportProblems } from '../cli/run.ts';
import { readManifests, formatIgnored } from '../manifests/documents.ts';
import type { FleetManifests, OsImages } from '../manifests/fleet-manifests.ts';
import { type ManifestDocument, placeOf } from '../manifests/manifest-document.ts';
import { toYaml } from '../manifests/yaml.ts';
import type { renderForms } from './command.ts';
import { machineConfigReader, type ReadMachineConfig } from './remote-content.ts';

export interface RenderCommandOptions extends ManifestOptions {
  pool: string;
  output: (typeof renderForms)[number];
}

export const runRender = (options: RenderCommandOptions, io: Io): Promise<void> =>
  reportProblems(io, async () => {
    const offline = await readOfflineFleet(options, io.stdin);
    const pool = findPool(offline.fleet, options.pool);
    await writeLines(io.stderr, offline.notes);
    const rendering = await offline.render(pool);
    await writeLines(io.stderr, formatRendering(offline, rendering));
    await writeArtifact(io.stdout, inForm(rendering, options.output, offline.fleet));
  });

function inForm(rendering: Rendering, output: RenderCommandOptions['output'], { controllerVersion }: Fleet): string {
  const { rendered } = rendering;
  switch (output) {
    case 'name':
      return `${rendered.name}\n`;
    case 'ignition':
      return toArtifactJson(rendered.spec.config);
    case 'json':
      return toArtifactJson(renderedManifest(rendering, controllerVersion));
    case 'yaml':
      return toYaml(renderedManifest(rendering, controllerVersion));
  }
}

/** The object that the render controller would create, without the fields that only a cluster knows. */
export function renderedManifest({ pool, rendered }: Rendering, controllerVersion: string): MachineConfig {
  return {
    apiVersion: `${MACHINE_CONFIGURATION_GROUP}/v1`,
    kind: machineConfigKind.kind,
    metadata: {
      name: rendered.name,
      labels: { [poolLabel]: pool.metadata.name },
      annotations: {
        [generatedByAnnotation]: controllerVersion,
        ...(rendered.osStream !== null && { [osStreamAnnotation]: rendered.osStream }),
      },
    },
    spec: rendered.spec,
  };
}

export type Rendering = Extract<RenderResult, { ok: true }> & {
  pool: MachineConfigPool;
  /** In merge order. */
  machineConfigs: readonly MachineConfig[];
  /** The OS image stream of the pool, and why; null: there are no streams. */
  stream: PoolStream | null;
};

export interface OfflineFleet {
  fleet: Fleet;
  /** What was ignored and what was assumed, one line each. */
  notes: string[];
  /** Throws a ProblemList if the pool cannot be rendered. */
  render(pool: MachineConfigPool): Promise<Rendering>;
}

export async function readOfflineFleet(
  options: ManifestOptions,
  stdin: AsyncIterable<Uint8Array>,
): Promise<OfflineFleet> {
  return buildOfflineFleet(await readManifests(options.filename, stdin, options.namespace), options);
}

/** `streams` override those of the manifests. */
export function buildOfflineFleet(manifests: FleetManifests, options: RenderOptions, streams?: Streams): OfflineFleet {
  const read = withPlaces(machineConfigReader(options), manifests);
  const { controllerVersion, daemonImage } = options;
  const fleet = completeFleet(manifests, { osImages: namedImages(options), controllerVersion, daemonImage, streams });
  const unselected = formatUnselected(unselectedMachineConfigs(fleet.machineConfigs, fleet.pools));
  return {
    fleet,
    notes: [...formatFleetNotes(manifests, fleet), ...unselected.map((text) => `warning: ${text}`)],
    render: (pool) => renderOffline(fleet, pool, { read, manifests }),
  };
}

/** Problems with a MachineConfig name its file and line. */
function withPlaces(read: ReadMachineConfig, { documents }: FleetManifests): ReadMachineConfig {
  return async (machineConfig) => {
    const result = await read(machineConfig);
    const document = documents.get(machineConfig);
    if (result.ok || document === undefined) return result;
    return { ok: false, problems: result.problems.map((problem) => atPlace(document, problem)) };
  };
}

function atPlace(document: ManifestDocument, problem: CodedProblem): CodedProblem {
  const field = 'field' in problem && typeof problem.field === 'string' ? problem.field : '';
  return { code: problem.code, message: `${placeOf(document, field)}: ${problem.message}` };
}

/** Problems with the pool itself do the same. */
function placePoolProblem(problem: CodedProblem, pool: MachineConfigPool, { documents }: FleetManifests): CodedProblem {
  const document = documents.get(pool);
  const isOfPool = 'object' in problem && problem.object === `MachineConfigPool ${pool.metadata.name}`;
  return document === undefined || !isOfPool ? problem : atPlace(document, problem);
}

async function renderOffline(
  fleet: Fleet,
  pool: MachineConfigPool,
  { read, manifests }: { read: ReadMachineConfig; manifests: FleetManifests },
): Promise<Rendering> {
  const images = osImagesOfPool(pool, fleet);
  const { machineConfigs, controllerVersion } = fleet;
  const { selected, problems, request } = await prepareRender(pool, {
    machineConfigs,
    read,
    images,
    controllerVersion,
  });
  if (request === null) throw new ProblemList(problems.map((each) => placePoolProblem(each, pool, manifests)));
  const result = await renderPool(request);
  if (!result.ok) throw new ProblemList(result.problems.map((problem) => suggestVersion(problem, fleet)));
  return { ...result, pool, machineConfigs: selected, stream: images.decided };
}

/** Offline, a flag is another remedy: it renders like the version of the cluster that the manifests come from. */
export function suggestVersion(
  { code, message }: CodedProblem,
  { givenVersions }: Pick<Fleet, 'givenVersions'>,
): CodedProblem {
  const [found, ...others] = givenVersions;
  if (code !== 'SLW_RENDER_VERSION' || found === undefined || others.length > 0) return { code, message };
  return {
    code,
    message: `${message}. Or render like the controller of these manifests: --controller-version ${found}`,
  };
}

/** The pool of that name, or an error that lists the pools. */
export function findPool({ pools }: Pick<Fleet, 'pools'>, name: string): MachineConfigPool {
  const found = pools.find(({ metadata }) => metadata.name === name);
  if (found !== undefined) return found;
  const names = pools.map(({ metadata }) => metadata.name).join(', ');
  throw new CommandError(
    'SLW_CLI_POOL',
    `--pool: expected one of ${names}, found ${name}, which is not in the manifests. Correct the name, or add its manifest with -f`,
  );
}

/** What was ignored in the manifests, and what was assumed in addition. */
export function formatFleetNotes(manifests: FleetManifests, fleet: Fleet): string[] {
  const ignored = manifests.ignored.size === 0 ? [] : [`ignored: ${formatIgnored(manifests)}`];
  const warnings = manifests.warnings.map((warning) => `warning: ${warning}`);
  return [...warnings, ...ignored, ...fleet.assumptions.map((assumption) => `assumed: ${assumption}`)];
}

/** The result in a few human-readable lines. */
export function formatRendering(
  { fleet }: { fleet: Pick<Fleet, 'assumedPools'> },
  { pool, machineConfigs, rendered, warnings }: Rendering,
): string[] {
  const { name } = pool.metadata;
  const assumed = fleet.assumedPools.has(name)
    ? [`assumed: MachineConfigPool ${name} is not in the manifests, so the default pool is used`]
    : [];
  return [
    ...assumed,
    ...warnings.map((warning) => `warning: ${formatProblem(warning)}`),
    `${rendered.name}: ${formatNames(machineConfigs)}, ${formatByteCount(rendered.bytes)}${rendered.osStream === null ? '' : `, OS image stream ${rendered.osStream}`}`,
  ];
}

const MAX_NAMES = 10;

function formatNames(machineConfigs: readonly NamedObject[]): string {
  const names = machineConfigs.map(({ metadata }) => metadata.name);
  return `${count(names.length, 'MachineConfig')} (${listNames(names, { max: MAX_NAMES })})`;
}

function formatByteCount(bytes: number): string {
  if (bytes < 1000) return `${bytes} bytes`;
  return bytes < 1_000_000 ? `${(bytes / 1000).toFixed(1)} kB` : `${(bytes / 1_000_000).toFixed(2)} MB`;
}

export interface FleetOptions {
  osImages: OsImages;
  /** Undefined: that of the manifests if they are a dump of a cluster, otherwise that of this program. */
  controllerVersion?: string | undefined;
  daemonImage?: string | undefined;
  /** Override those of the manifests. */
  streams?: Streams | undefined;
}

export interface Fleet {
  pools: MachineConfigPool[];
  /** Names of the pools that the manifests lack. */
  assumedPools: ReadonlySet<string>;
  machineConfigs: MachineConfig[];
  osImages: OsImages;
  /** Null: pools follow no stream. */
  streams: Streams | null;
  /** The version of the controller that renders. */
  controllerVersion: string;
  /** Versions of the controllers that created MachineConfigs of the manifests. */
  givenVersions: readonly string[];
  /** What the manifests lack and what is used instead, one sentence each. */
  assumptions: string[];
}

/** Adds what a controller has in addition to users' manifests: default pools, built-in MachineConfigs, OS images. */
export function completeFleet(manifests: FleetManifests, options: FleetOptions): Fleet {
  const own = manifests.machineConfigs.filter(({ metadata }) => !metadata.name.startsWith(RENDERED_PREFIX));
  const defaults = missingPools(manifests.pools.map(({ metadata }) => metadata.name));
  const pools = [...manifests.pools, ...defaults].sort(byName);
  const givenVersions = listVersions(own);
  const [given = version, ...others] = givenVersions;
  // With every built-in MachineConfig, this is a dump of a cluster, and its controller would render. Others would be
  // refused by the cluster that they are applied to.
  const isDump =
    others.length === 0 && missingBuiltIn({ machineConfigs: own, pools }, { controllerVersion: given }).length === 0;
  const controllerVersion = options.controllerVersion ?? (isDump ? given : version);
  const builtIn = missingBuiltIn({ machineConfigs: own, pools }, { ...options, controllerVersion });
  const osImages = { ...manifests.osImages, ...options.osImages };
  const streams = options.streams ?? readManifestStreams(manifests);
  return {
    pools,
    assumedPools: new Set(defaults.map(({ metadata }) => metadata.name)),
    machineConfigs: [...own, ...builtIn].sort(byName),
    osImages,
    streams,
    controllerVersion,
    givenVersions,
    assumptions: [
      ...(controllerVersion === (options.controllerVersion ?? version)
        ? []
        : [`controller version ${controllerVersion}, from the manifests`]),
      ...describeBuiltIn(builtIn, controllerVersion),
      ...(streams === null ? [...describeMissingOsImages(osImages), ...describeMissingStreams(manifests)] : []),
      ...describeIgnoredRendered(manifests.machineConfigs.length - own.length),
    ],
  };
}

/** As part of a command line that is safe to copy. */
const VERSION = /^[\w.+:-]{1,80}$/;

const listVersions = (machineConfigs: readonly MachineConfig[]): string[] =>
  [...new Set(machineConfigs.map(({ metadata }) => metadata.annotations?.[generatedByAnnotation] ?? ''))]
    .filter((each) => VERSION.test(each))
    .sort();

interface NamedObject {
  metadata: { name: string };
}

/** By UTF-16 code units, so that the locale does not matter. */
function byName(a: NamedObject, b: NamedObject): number {
  if (a.metadata.name === b.metadata.name) return 0;
  return a.metadata.name < b.metadata.name ? -1 : 1;
}

function describeBuiltIn(builtIn: readonly NamedObject[], version: string): string[] {
  if (builtIn.length === 0) return [];
  const names = builtIn.map(({ metadata }) => metadata.name).join(', ');
  return [`${names}: not in the manifests, so the built-in ones are used (version ${version})`];
}

function describeMissingOsImages({ osImageURL, baseOSExtensionsContainerImage }: OsImages): string[] {
  if (osImageURL === undefined) {
    return [
      `OS image: the manifests have no ConfigMap ${OS_IMAGES_CONFIG_MAP}, and --os-image is not set; the result has an OS image only if a MachineConfig sets one`,
    ];
  }
  return baseOSExtensionsContainerImage === undefined
    ? ['OS extensions image: not set; the result has one only if a MachineConfig sets one']
    : [];
}

const readManifestStreams = ({ osImageStream }: FleetManifests): Streams | null =>
  osImageStream === undefined ? null : toStreams(osImageStream);

/** A pool requests a stream, but no OSImageStream is available. */
function describeMissingStreams({ pools }: FleetManifests): string[] {
  const asking = pools.filter(({ spec }) => spec.osImageStream !== undefined).map(({ metadata }) => metadata.name);
  if (asking.length === 0) return [];
  return [
    `OS image streams: the manifests have no OSImageStream with a status, so spec.osImageStream of ${listNames(asking, { max: MAX_NAMES })} is ignored, as with OSStreams off`,
  ];
}

function describeIgnoredRendered(rendered: number): string[] {
  if (rendered === 0) return [];
  return [`rendered MachineConfigs in the manifests (${rendered}): ignored, because they are not inputs`];
}
