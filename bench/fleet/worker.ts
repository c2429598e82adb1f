// One process of clients: starts them on the first message, and reports twenty times a second.
import { type FleetStart, startDaemonClients } from './daemon-clients.ts';

process.once('message', (start: FleetStart) => {
  void run(start);
});
process.on('disconnect', () => process.exit());

async function run(start: FleetStart): Promise<void> {
  const clients = await startDaemonClients(start);
  setInterval(() => process.send?.(clients.progress()), 50);
}
