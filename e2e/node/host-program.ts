// Runs on a node: calls of the real host's interface, as JSON, with their answers printed as JSON.
import { createRealHost } from '@slipway/daemon';

const [, , name = '', argument = ''] = process.argv;
const host = await createRealHost({ root: '/' });
const { systemd } = host;
const units = argument.split(',');

const calls: Record<string, () => Promise<unknown>> = {
  describe: async () => ({ kind: host.kind, bootId: await host.bootId(), os: await host.os.describe() }),
  enablement: () => systemd.enablement(argument),
  enable: () => systemd.enable(units),
  disable: () => systemd.disable(units),
  preset: () => systemd.preset(units),
  daemonReload: () => systemd.daemonReload(),
  reload: () => systemd.reload(argument),
  restart: () => systemd.restart(argument),
  passwordHash: () => host.accounts.passwordHash(argument),
  setPasswordHash: () => host.accounts.setPasswordHash('root', argument),
  reboot: () => host.reboot(argument),
  'reboot twice': () => Promise.all([host.reboot(argument), host.reboot(argument)]),
};

try {
  const answer: unknown = await calls[name]?.();
  console.log(JSON.stringify({ answer: answer ?? null }));
} catch (error) {
  const { code, message } = error as Error & { code?: string };
  console.log(JSON.stringify({ code: code ?? '', message }));
}
