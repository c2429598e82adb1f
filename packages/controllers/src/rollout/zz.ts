import { drainController } from '../drain/drain.ts';
import { runScenario } from '../testing/simulation/rollout-scenario.ts';
import { rolloutController } from './rollout.ts';
const [from = 1, to = 10] = process.argv.slice(2).map(Number);
let total = 0;
for (let seed = from; seed <= to; seed += 1) {
  const cpu = process.cpuUsage();
  const result = await runScenario(seed, () => [rolloutController(), drainController()]);
  const ms = Math.round(process.cpuUsage(cpu).user / 1000);
  total += ms;
  if (ms > 400) console.log('slow', seed, ms, result.changes, result.given);
  if (result.violations.length > 0)
    console.log(
      'BAD',
      seed,
      result.violations.length,
      result.violations.slice(0, 2).map((v) => v.slice(0, 900)),
    );
  if (seed % 50 === 0) console.log('at', seed, total);
}
console.log('end', total);
