import { CommandError } from '../cli/errors.ts';
import { shortConfig } from '../cli/terminal.ts';

const hashOf = (name: string): string => name.slice(name.lastIndexOf('-') + 1);
const MAX_NAMED = 10;

/** The rendered config that a person means: its name, or the beginning of its name or hash. `names` are the newest first. */
export function findTarget(asked: string, pool: string, names: readonly string[]): string {
  const found = names.includes(asked)
    ? [asked]
    : names.filter((name) => name.startsWith(asked) || hashOf(name).startsWith(asked));
  const [first, ...others] = found;
  if (first !== undefined && others.length === 0 && asked !== '') return first;
  const [what, shown] = first === undefined ? ['no', names] : ['more than one', found];
  const list = shown.slice(0, MAX_NAMED).map(shortConfig).join(', ') || 'none';
  throw new CommandError(
    'SLW_CLI_NO_CONFIG',
    `--to ${JSON.stringify(asked)}: pool ${pool} has ${what} rendered config of that beginning; it has ${list}. slipway history ${pool} shows what each of them changed`,
  );
}
