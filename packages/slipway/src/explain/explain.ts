import { createHash } from 'node:crypto';
import { nearNames } from '@slipway/base/near-names';
import {
  buildDiskPlan,
  type DiskPlan,
  explain,
  type Explained,
  isSecretFile,
  maskContents,
  UNIT_DIRECTORY,
} from '@slipway/fleet';
import { CommandError } from '../cli/errors.ts';
import { type Io, toJson, write, writeLines } from '../cli/io.ts';
import type { ManifestOptions, RenderOptions } from '../cli/options.ts';
import type { ClusterOptions } from '../cli/program.ts';
import { reportProblems, useCluster } from '../cli/run.ts';
import { safeText, table } from '../cli/terminal.ts';
import { findPool, readOfflineFleet, type Rendering, formatRendering } from '../render/render.ts';
import { type ExplainedRendering, renderFromCluster } from './read-cluster.ts';

export interface ExplainOptions extends RenderOptions, ClusterOptions {
  filename?: string[];
  pool?: string;
  output: 'table' | 'json';
  showSecrets?: boolean;
}

/** Up to this many items are shown in full; more get one line each. */
const MAX_WHOLE = 20;

export const runExplain = (words: readonly (string | undefined)[], options: ExplainOptions, io: Io): Promise<void> =>
  reportProblems(io, async () => {
    const { pool, path } = poolAndPath(words, options);
    const { filename } = options;
    const { rendering, notes } =
      filename === undefined
        ? await useCluster(options, (client) => renderFromCluster(client, pool, options))
        : await renderFromFiles(pool, { ...options, filename }, io);
    await writeLines(io.stderr, notes);
    const showSecrets = options.showSecrets ?? false;
    const all = [...explain(rendering, undefined, { showSecrets }), ...platformImages(rendering)];
    const things = path === undefined ? all : selectThings(all, path);
    if (path !== undefined && things.length === 0) throw nothingSuch(path, all, rendering);
    if (options.output === 'json') {
      await write(io.stdout, toJson({ pool, rendered: rendering.rendered.name, items: things }, options), options);
    } else if (path === undefined || things.length > MAX_WHOLE) await write(io.stdout, overviewText(things), options);
    else await write(io.stdout, await wholeText(things, rendering, showSecrets), options);
  });

/** POOL and PATH, or with --pool the PATH alone. */
function poolAndPath(
  words: readonly (string | undefined)[],
  { pool: named }: ExplainOptions,
): { pool: string; path: string | undefined } {
  const [pool, path, ...others] = named === undefined ? words : [named, ...words];
  if (pool !== undefined && others.every((each) => each === undefined)) return { pool, path };
  const found = pool === undefined ? 'none' : `--pool ${pool} and two arguments`;
  throw new CommandError('SLW_CLI_USAGE', `slipway explain: expected a POOL and at most one PATH, found ${found}`);
}

async function renderFromFiles(name: string, options: ManifestOptions, io: Io): Promise<ExplainedRendering> {
  const offline = await readOfflineFleet(options, io.stdin);
  const rendering = await offline.render(findPool(offline.fleet, name));
  return { rendering, notes: [...offline.notes, ...formatRendering(offline, rendering)] };
}

/** Images that no MachineConfig sets come from the platform. */
function platformImages({ rendered, provenance }: Rendering): Explained[] {
  const set = new Set(provenance.settings().map(({ setting }) => setting));
  return (
    [
      ['osImageURL', 'OS image'],
      ['baseOSExtensionsContainerImage', 'OS extensions image'],
    ] as const
  ).flatMap(([field, noun]) => {
    const name = rendered.spec[field];
    return name === undefined || set.has(field) ? [] : [{ noun, name, setBy: '(platform)', overrode: [], fields: [] }];
  });
}

function nothingSuch(path: string, all: readonly Explained[], { rendered }: Rendering): CommandError {
  const near = nearNames(
    path,
    all.map(({ name }) => name),
  );
  const hint = near.length === 0 ? 'To list everything, leave PATH out' : `Did you mean ${near.join(' or ')}?`;
  return new CommandError('SLW_CLI_NOTHING_SUCH', `${rendered.name} has no ${path}. ${hint}`);
}

/** Users name settings by their MachineConfig field. */
const NOUN_OF_FIELD: Readonly<Record<string, string>> = {
  kernelArguments: 'kernel argument',
  extensions: 'extension',
  kernelType: 'kernel type',
  fips: 'FIPS mode',
  osImageURL: 'OS image',
  baseOSExtensionsContainerImage: 'OS extensions image',
};

/** Selects an item of that name with its parts, a directory, or all values of a field. */
function selectThings(things: readonly Explained[], asked: string): Explained[] {
  return things.filter((thing) => isMeant(thing, asked));
}

function isMeant({ noun, name }: Explained, asked: string): boolean {
  const user = /^sshkey:(.+)$/.exec(asked)?.[1];
  if (user !== undefined) return noun === 'ssh key' && name.startsWith(`${user} `);
  if (asked.startsWith('/') && asked.endsWith('/')) return name.startsWith(asked);
  if (noun === NOUN_OF_FIELD[asked]) return true;
  // A unit with its drop-ins, a user with its keys.
  return name === asked || name.startsWith(`${asked}.d/`) || (noun === 'ssh key' && name.startsWith(`${asked} `));
}

/** One line for each item. */
function overviewText(things: readonly Explained[]): string {
  return table(
    ['KIND', 'NAME', 'SET BY', 'OVERRODE'],
    things.map(({ noun, name, setBy, overrode }) => [noun, name, setBy, listed(overrode)]),
  );
}

async function wholeText(things: readonly Explained[], { rendered }: Rendering, showSecrets: boolean): Promise<string> {
  const plan = await buildDiskPlan(rendered.spec.config);
  return things.map((thing) => thingText(thing, formatContents(thing, plan, showSecrets))).join('\n');
}

/** One item with its fields, and its contents if it has any. */
function thingText({ noun, name, setBy, overrode, fields }: Explained, contents: string | undefined): string {
  const title = safeText(
    `${noun} ${name}\n  set by ${setBy}${overrode.length === 0 ? '' : `, overriding ${listed(overrode)}`}\n`,
  );
  // The title already has the name.
  const rows = fields.filter((field) => field.name !== '' && field.value !== name);
  const shown = table(
    ['FIELD', 'VALUE', 'SET BY', 'OVERRODE'],
    rows.map((field) => [field.name, field.value, field.from, listed(field.overrode)]),
  );
  const indent = (text: string): string => text.replaceAll(/^(?=.)/gm, '  ');
  return [
    title,
    ...(rows.length === 0 ? [] : ['\n', indent(shown)]),
    ...(contents === undefined ? [] : ['\n', indent(safeText(contents.endsWith('\n') ? contents : `${contents}\n`))]),
  ].join('');
}

const listed = (names: readonly string[]): string => (names.length === 0 ? '-' : names.join(', '));

/** Larger contents are not printed. */
const MAX_SHOWN_BYTES = 64 * 1024;

const DIRECTORY_OF: Readonly<Record<string, string>> = {
  file: '',
  unit: `${UNIT_DIRECTORY}/`,
  'drop-in': `${UNIT_DIRECTORY}/`,
};

/** The final contents of a file or unit, if they may and can be shown; undefined for other items. */
function formatContents({ noun, name }: Explained, plan: DiskPlan, showSecrets: boolean): string | undefined {
  const directory = DIRECTORY_OF[noun];
  if (directory === undefined) return undefined;
  const path = `${directory}${name}`;
  const entry = plan.entries.find((each) => each.path === path);
  if (entry?.kind !== 'file') return undefined;
  if (!showSecrets && isSecretFile(path, entry.mode)) {
    return `(${entry.bytes.length} bytes, hidden; --show-secrets shows them)`;
  }
  const text = decodeUtf8(entry.bytes);
  return text === undefined
    ? `(${entry.bytes.length} bytes, sha256 ${sha256(entry.bytes)})`
    : maskContents(text, { showSecrets });
}

function decodeUtf8(bytes: Uint8Array): string | undefined {
  if (bytes.length > MAX_SHOWN_BYTES || bytes.includes(0)) return undefined;
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');
