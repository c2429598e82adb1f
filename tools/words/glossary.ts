// The words that comments, messages, help, CRD descriptions and pages do not use, each with what an experienced Kubernetes
// engineer says instead. Case does not matter.

export interface GlossaryEntry {
  readonly pattern: RegExp;
  /** What to write, depending on what is meant. */
  readonly use: string;
  /** Text that the pattern must find. */
  readonly example: string;
}

const entry = (pattern: RegExp, use: string, example: string): GlossaryEntry => ({ pattern, use, example });

export const GLOSSARY: readonly GlossaryEntry[] = [
  entry(/\b(somebody|someone)\b/i, 'a user, another client, an administrator', 'somebody asked to go back'),
  entry(/\b(nobody|no one)\b/i, 'nothing, no controller, no user', 'a value that nobody can read'),
  entry(/\banew\b/i, 'again, from scratch', 'install the machine anew'),
  entry(/\bshall\b/i, 'must, should; in CRDs "desired"', 'the config that it shall have'),
  entry(/\btold\b/i, 'assigned, notified, reported', 'a node that was told its config'),
  entry(/\b(say|says|saying|said)\b/i, 'report, specify, state', 'the pool says which config'),
  entry(/\btell(s|ing)?\b/i, 'report; for differences: distinguish', 'it tells the cluster'),
  entry(/\blook(s|ed|ing)? (again|at)\b/i, 'check, inspect, requeue', 'it looks at the node again'),
  entry(/\bat once\b/i, 'immediately, or concurrently', 'all machines at once'),
  entry(/\bbeside\b/i, 'alongside, next to, in addition to', 'beside a running operator'),
  entry(/\ball the same\b/i, 'anyway', 'it is pulled all the same'),
  entry(/\bany more\b/i, 'no longer', 'it is not used any more'),
  entry(/\b(by|of) (itself|themselves)\b/i, 'automatically, on its own', 'it goes by itself'),
  entry(/\bways? out\b/i, 'remediation, what to do', 'the way out is in the message'),
  entry(
    /\b(is|are|was|were|be|stays?|all) well\b(?![- ](formed|known|under|below|above))/i,
    'healthy',
    'the node is well',
  ),
  entry(/\bmend(s|ed|ing)?\b/i, 'repair, fix', 'drift is mended'),
  entry(/\b(its|their|his|whose|the next|a) turns?\b/i, 'slot', 'a node that waits for its turn'),
  entry(/\brooms?\b/i, 'free space, capacity', 'there is no room on the disk'),
  entry(/\b(take|takes|taking|taken|took) (\w+ )?back\b/i, 'roll back, withdraw, undo', 'the update is taken back'),
  entry(/\btheirs\b|\bnot ours\b/i, 'user-managed, unmanaged', 'a Secret that is theirs, not ours'),
  entry(/\bas (it|they) (is|are|was|were|stands?)\b/i, 'current, unchanged', 'the machine stays as it is'),
  entry(/\bwanted\b/i, 'desired', 'the wanted config'),
  entry(/\bwhat (is|was|were) found\b/i, 'what was observed', 'what is found on the machine'),
  entry(/\bfor people\b/i, 'human-readable', 'a text for people'),
  entry(/\bwish(es|ed)?\b/i, 'request', 'the wish of a user'),
  entry(/\bpatience\b/i, 'timeout', 'when its patience ends'),
  entry(/\bpaces?\b/i, 'interval, backoff, rate', 'the pace of retries'),
  entry(/\b(begin|begins|beginning|began|begun)\b/i, 'start', 'before the drain begins'),
  entry(/\b(bring|brings|brought)\b(?![^.;:]{0,60}\b(to|up|into)\b)/i, 'ship, provide', 'what the release brings'),
  entry(/\bwhoever\b|\b(by|for|of|to|from|with) who\b/i, 'callers that…, users who…', 'read by who uses it'),
  entry(/\bgets? (its|their) pods back\b/i, 'is being uncordoned', 'the node gets its pods back'),
  entry(/\bpool is for\b/i, 'pool target', 'the config that the pool is for'),
  entry(/\bstands? twice\b/i, 'is duplicated', 'the file stands twice'),
  entry(/\bout of service\b/i, 'unavailable', 'number 1 of at most 1 machine out of service'),
];
