import { diffRendered, ProblemList } from '@slipway/fleet';
import { formatDiff } from '@slipway/ignition';
import { CommandError } from '../cli/errors.ts';
import { type Io, toJson, write } from '../cli/io.ts';
import { tellProblems } from '../cli/run.ts';
import { STDIN } from '../manifests/find-files.ts';
import { readSide, type SideOptions } from './side.ts';

export interface DiffOptions extends SideOptions {
  output: 'text' | 'json';
  showSecrets?: boolean;
}

const DIFFERENT = 2;

export const runDiff = (before: string, after: string, options: DiffOptions, io: Io): Promise<void> =>
  tellProblems(io, async () => {
    if (before === STDIN && after === STDIN) {
      throw new CommandError('SLW_CLI_COMPARE', '- reads stdin and can be given once');
    }
    const old = await readSide(before, options, io.stdin);
    const now = await readSide(after, options, io.stdin);
    await write(io.stderr, `--- ${old.title}\n+++ ${now.title}\n`);
    const { items, report } = await diffRendered(old.spec, now.spec, { showSecrets: options.showSecrets ?? false });
    if (items === null) {
      throw ProblemList.of(
        'SLW_CLI_COMPARE',
        report.map(({ path, message }) => `the two cannot be compared: ${path === '' ? '' : `${path}: `}${message}`),
      );
    }
    await write(io.stdout, options.output === 'json' ? toJson({ items }) : formatDiff(items));
    if (items.length > 0) io.setExitCode(DIFFERENT);
  });
