import { diskOf, explain, type Explained } from '@slipway/fleet';
import { CommandError, nearNames } from '../cli/errors.ts';
import { type Io, toJson, write } from '../cli/io.ts';
import type { ManifestOptions } from '../cli/options.ts';
import { tellProblems } from '../cli/run.ts';
import { findPool } from '../render/find-pool.ts';
import { offlineFleet, type Rendering } from '../render/render-offline.ts';
import { sayRendering } from '../render/say-fleet.ts';
import { contentsOf } from './contents.ts';
import { overviewText, thingText } from './explain-text.ts';
import { selectThings } from './select-things.ts';

export interface ExplainOptions extends ManifestOptions {
  pool: string;
  output: 'table' | 'json';
  showSecrets?: boolean;
}

/** One is shown with all there is about it; of many, a line each. */
const MAX_WHOLE = 20;

export const runExplain = (path: string | undefined, options: ExplainOptions, io: Io): Promise<void> =>
  tellProblems(io, async () => {
    const offline = await offlineFleet(options, io.stdin);
    const rendering = await offline.render(findPool(offline.fleet, options.pool));
    const notes = [...offline.notes, ...sayRendering(offline, rendering)];
    await write(io.stderr, notes.map((line) => `${line}\n`).join(''));
    const showSecrets = options.showSecrets ?? false;
    const all = [...explain(rendering, undefined, { showSecrets }), ...platformImages(rendering)];
    const things = path === undefined ? all : selectThings(all, path);
    if (path !== undefined && things.length === 0) throw nothingSuch(path, all, rendering);
    if (options.output === 'json') {
      const { name } = rendering.rendered;
      await write(io.stdout, toJson({ pool: options.pool, rendered: name, items: things }));
    } else if (path === undefined || things.length > MAX_WHOLE) await write(io.stdout, overviewText(things));
    else await write(io.stdout, await wholeText(things, rendering, showSecrets));
  });

async function wholeText(things: readonly Explained[], { rendered }: Rendering, showSecrets: boolean): Promise<string> {
  const plan = await diskOf(rendered.spec.config);
  return things.map((thing) => thingText(thing, contentsOf(thing, plan, showSecrets))).join('\n');
}

/** Images that no MachineConfig names come from the platform. */
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
  const hint =
    near.length === 0 ? 'slipway explain without a PATH lists everything' : `near it there is ${near.join(', ')}`;
  return new CommandError('SLW_CLI_NOTHING_SUCH', `${rendered.name} has nothing called ${path}; ${hint}`);
}
