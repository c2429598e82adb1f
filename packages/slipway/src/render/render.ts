import { type Io, toJson, write } from '../cli/io.ts';
import type { ManifestOptions } from '../cli/options.ts';
import { version } from '../cli/program.ts';
import { tellProblems } from '../cli/run.ts';
import { toYaml } from '../manifests/manifest-text.ts';
import type { renderForms } from './command.ts';
import { findPool } from './find-pool.ts';
import { offlineFleet, type Rendering } from './render-offline.ts';
import { renderedManifest } from './rendered-manifest.ts';
import { sayRendering } from './say-fleet.ts';

export interface RenderOptions extends ManifestOptions {
  pool: string;
  output: (typeof renderForms)[number];
}

export const runRender = (options: RenderOptions, io: Io): Promise<void> =>
  tellProblems(io, async () => {
    const offline = await offlineFleet(options, io.stdin);
    const pool = findPool(offline.fleet, options.pool);
    for (const note of offline.notes) await write(io.stderr, `${note}\n`);
    const rendering = await offline.render(pool);
    for (const line of sayRendering(offline, rendering)) await write(io.stderr, `${line}\n`);
    await write(io.stdout, inForm(rendering, options));
  });

function inForm(rendering: Rendering, { output, controllerVersion = version }: RenderOptions): string {
  const { rendered } = rendering;
  switch (output) {
    case 'name':
      return `${rendered.name}\n`;
    case 'ignition':
      return toJson(rendered.spec.config);
    case 'json':
      return toJson(renderedManifest(rendering, controllerVersion));
    case 'yaml':
      return toYaml(renderedManifest(rendering, controllerVersion));
  }
}
