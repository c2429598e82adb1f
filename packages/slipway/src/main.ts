import { Command, CommanderError } from 'commander';
import { bootstrapCommand } from './bootstrap/command.ts';
import { controllerCommand } from './controller-command.ts';
import { diffCommand } from './diff/command.ts';
import { explainCommand } from './explain/command.ts';
import { failureText } from './fail.ts';
import { ignitionCommand } from './ignition/command.ts';
import { installCommand } from './install-command.ts';
import { renderCommand } from './render/command.ts';
import { serverCommand } from './server-command.ts';
import { startCommand } from './start-command.ts';
import { version } from './version.ts';

const program = new Command('slipway')
  .description(
    'Slipway configures fleets of Kubernetes machines: what every machine’s operating system must look like, from its first boot on, one safe step at a time.',
  )
  .version(version, '-V, --version')
  .helpCommand('help [command]', 'more about a command')
  .addCommand(startCommand())
  .addCommand(installCommand())
  .addCommand(controllerCommand())
  .addCommand(serverCommand())
  .addCommand(renderCommand())
  .addCommand(explainCommand())
  .addCommand(diffCommand())
  .addCommand(bootstrapCommand())
  .addCommand(ignitionCommand())
  .addHelpText(
    'after',
    `
Examples:
  slipway start                                   a whole control plane on this machine, to try things
  slipway install --kubeconfig prod.kubeconfig    CRDs and policies into a cluster
  slipway controller --kubeconfig prod.kubeconfig the controllers against it
  slipway render -f fleet/ --pool worker          a pool’s configuration from manifests, without a cluster

Every error ends with a code in brackets; docs/errors.md says what to do about each.`,
  );
/** Mistakes in the call read like every other error: one line, a code, the way out. */
function sayUsage(text: string, write: (text: string) => void): void {
  const [line = '', hint = ''] = text
    .replace(/^error: /, '')
    .trim()
    .split('\n');
  write(`slipway: ${[line, hint].filter(Boolean).join(' ')} [SLW_CLI_USAGE]\n`);
}
function prepare(command: Command): void {
  command.exitOverride().configureOutput({ outputError: sayUsage });
  for (const each of command.commands) prepare(each);
}
prepare(program);

// `slipway --help | head`: whoever reads may stop reading.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0);
  throw error;
});
try {
  await program.parseAsync();
} catch (error) {
  // Commander has already said what it had to say, --help and --version included.
  if (error instanceof CommanderError) process.exitCode = error.exitCode;
  else {
    console.error(failureText(error, process.env.SLIPWAY_DEBUG === '1'));
    process.exitCode = 1;
  }
}
