// How the ignition commands read their inputs and give their answers: stdout has the answer and nothing else.
import { type AnyConfig, hasErrors, type Report, validate } from '@slipway/ignition';
import { InputError } from '../cli/errors.ts';
import { type Io, toJson, write } from '../cli/io.ts';
import { type Input, isUsable, readInput } from './input.ts';

export interface OutputOptions {
  output: 'text' | 'json';
}

/** Expected failures end in one line on stderr; a stack trace is for bugs alone. */
export function guarded<A extends unknown[]>(io: Io, exitCode: number, action: (...args: A) => Promise<void>) {
  return async (...args: A): Promise<void> => {
    // Whoever closed the pipe (`| head`) has read enough; without this the write would end the process with a trace.
    io.stdout.once('error', () => undefined);
    try {
      await action(...args);
    } catch (failure) {
      if (failure instanceof Error && 'code' in failure && failure.code === 'EPIPE') return;
      if (!(failure instanceof InputError)) throw failure;
      await write(io.stderr, `slipway ignition: ${failure.message}\n`);
      io.setExitCode(exitCode);
    }
  };
}

export async function readAll(files: readonly string[], io: Io): Promise<Input[]> {
  if (files.filter((file) => file === '-').length > 1) throw new InputError('"-" (stdin) can be given once');
  const inputs: Input[] = [];
  for (const file of files) inputs.push(await readInput(file, io.stdin));
  return inputs;
}

type Usable = Input & { config: AnyConfig };

/** Configs that are valid; else their reports, and the end. Warnings go to stderr, so that stdout is only the answer. */
export async function readUsable(files: readonly string[], io: Io): Promise<[Usable, ...Usable[]]> {
  const inputs = await readAll(files, io);
  await write(io.stderr, lines(inputs.flatMap(({ name, report }) => reportLines(name, report))));
  const [first, ...rest] = inputs.filter(isUsable);
  if (first === undefined || rest.length + 1 < inputs.length) {
    const bad = inputs.filter((input) => !isUsable(input)).map((input) => input.name);
    throw new InputError(`not valid: ${bad.join(', ')}`);
  }
  return [first, ...rest];
}

export async function readTwo(before: string, after: string, io: Io): Promise<[Usable, Usable]> {
  const [a, b] = await readUsable([before, after], io);
  if (b === undefined) throw new InputError('two configs are needed');
  return [a, b];
}

interface Outcome {
  result: AnyConfig | null;
  report: Report;
}

/** Two valid configs can merge to an invalid one. */
export function checkResult(result: AnyConfig | null, report: Report): Outcome {
  const all = result === null ? report : [...report, ...validate(result)];
  return { result: hasErrors(all) ? null : result, report: all };
}

export async function answer(
  io: Io,
  { output }: OutputOptions,
  { result, report }: Outcome,
  extra: object = {},
): Promise<void> {
  if (output === 'json') await write(io.stdout, toJson({ result, report, ...extra }));
  else {
    await write(io.stderr, lines(reportLines('', report)));
    if (result !== null) await write(io.stdout, toJson(result));
  }
  if (result === null) io.setExitCode(1);
}

export function reportLines(name: string, report: Report): string[] {
  return report.map(({ kind, path, message }) => [name, kind, path, message].filter((part) => part !== '').join(': '));
}

export function lines(all: string[]): string {
  return all.map((line) => `${line}\n`).join('');
}
