// A simulation of one Ironic with one BMC, as small as the invariants of the steps allow. Its behaviour is measured on
// the real Ironic: a lock while it works, an error left behind, a success response before the work. Its times are made
// up.
import type { Drive, IronicNode, PowerTarget } from '@slipway/fleet/hosts';
import type { Random } from '@slipway/testing/random';
import { type Faults, noFaults } from './simulated-faults.ts';

export interface Medium {
  readonly image: string;
  /** The URL that Ironic got it from; null: another client inserted it. */
  readonly url: string | null;
}

export type CallResult = 'accepted' | 'refused' | 'unsure';
interface PendingOperation {
  readonly endsAt: number;
  readonly finish: () => void;
  /** A restart fails what cannot be resumed, and forgets the rest. */
  readonly abort: () => void;
}
type Node = { -readonly [K in keyof IronicNode]: IronicNode[K] };

/** The medium that another client inserts. */
const FOREIGN_IMAGE = 'http://somebody.example/tool.iso';

/** The maximum age of a read; the steps get the same value. */
export const MAX_LAG_MS = 20_000;

export class SimulatedIronic {
  now = 1_000_000;
  faults: Faults = noFaults;
  power: 'on' | 'off' = 'on';
  /** How often it was powered off. */
  offs = 0;
  private changedAt = 0;
  medium: Medium | null = null;
  /** The digest of the driver_info with the right password. */
  goodDigest = 'good';
  readonly violations: string[] = [];
  /** Whether the drive may change while the host is on, according to the users' requests. */
  mayChangeWhileOn = false;
  /** For debugging a failure. */
  readonly story: string[] = [];
  private node: Node | null = null;
  private work: PendingOperation | null = null;
  private history: { readonly at: number; readonly node: IronicNode | null }[] = [];
  private pressedAt = 0;
  private wasReadLate = false;
  private lied = false;
  private nodes = 0;
  /** The content of the drive when it was last read. */
  private seen: Medium | null = null;
  /** Whether it passes URLs to the BMC unchanged; else it makes copies named after the node. */
  private readonly handsOnUrls: boolean;
  private readonly random: Random;

  constructor(random: Random) {
    this.random = random;
    this.handsOnUrls = random.chance(0.3);
  }

  /** Ironic is busy or has failed, and the latest reader could know. */
  get hasError(): boolean {
    return !this.wasReadLate && (this.work !== null || (this.node !== null && this.node.lastError !== null));
  }

  get isWorking(): boolean {
    return this.work !== null;
  }

  get hasNode(): boolean {
    return this.node !== null;
  }

  /** Advances the time, and completes Ironic's work. */
  advance(ms: number): void {
    this.now += ms;
    this.finishWork();
    // Ironic polls the power state from the BMC.
    if (this.node !== null && this.work === null) this.node.powerState = `power ${this.power}`;
    this.keep();
  }

  private finishWork(): void {
    const { work } = this;
    if (work === null) return;
    if (this.random.chance(this.faults.restart)) {
      this.tell('Ironic restarts in the middle of its work');
      work.abort();
      this.end();
    } else if (work.endsAt <= this.now) {
      work.finish();
      this.end();
    }
  }

  private end(): void {
    this.work = null;
    if (this.node !== null) Object.assign(this.node, { reservation: null, targetPowerState: null });
  }

  readNode(): IronicNode | null {
    const old = this.history.findLast(({ at }) => at <= this.now - this.random.int(1, MAX_LAG_MS));
    const isOld = this.random.chance(this.faults.lag) && old !== undefined;
    this.wasReadLate = isOld;
    return isOld ? old.node : this.node === null ? null : { ...this.node };
  }

  /** As the step requires: read twice, and only equal answers count. */
  readDrive(): { readonly drive: Drive | null; readonly problem: string | null } {
    if (this.random.chance(this.faults.unreadable)) return { drive: null, problem: 'the BMC does not answer' };
    const [first, second] = [this.lookOnce(), this.lookOnce()];
    this.seen = this.medium;
    const isSame = first.inserted === second.inserted && first.image === second.image;
    return isSame ? { drive: first, problem: null } : { drive: null, problem: 'the answers differ' };
  }

  /** A misread never happens twice in a row. */
  private lookOnce(): Drive {
    this.lied = !this.lied && this.random.chance(this.faults.lie);
    if (this.lied && this.random.chance(0.5)) return { inserted: true, image: 'http://elsewhere.example/other.iso' };
    const isThere = (this.medium !== null) !== this.lied;
    return {
      inserted: isThere,
      image: isThere ? (this.medium?.image ?? this.imageOf('http://iso.example/a.iso')) : '',
    };
  }

  register(digest: string): CallResult {
    if (this.node !== null) return 'refused';
    this.nodes += 1;
    this.node = {
      uuid: this.uuid(),
      provisionState: 'enroll',
      targetProvisionState: null,
      powerState: null,
      targetPowerState: null,
      reservation: null,
      lastError: null,
      maintenance: false,
      sentDigest: digest,
    };
    return this.answered();
  }

  update(digest: string): CallResult {
    return this.onNode((node) => {
      node.sentDigest = digest;
    });
  }

  setMaintenance(maintenance: boolean): CallResult {
    return this.onNode((node) => {
      node.maintenance = maintenance;
    });
  }

  delete(): CallResult {
    // As in the real one: a conflict, which may pass.
    if (this.node?.provisionState === 'active' && !this.node.maintenance) return 'unsure';
    return this.onNode(() => {
      this.node = null;
    });
  }

  provision(target: 'manage' | 'adopt'): CallResult {
    const [during, after, failed] =
      target === 'manage'
        ? (['verifying', 'manageable', 'enroll'] as const)
        : (['adopting', 'active', 'adopt failed'] as const);
    return this.begin(
      `provision ${target}`,
      (node, hasFailed) => {
        const isWrong = node.sentDigest !== this.goodDigest;
        node.provisionState = hasFailed || isWrong ? failed : after;
        if (hasFailed || isWrong) node.lastError = isWrong ? 'wrong password' : 'the BMC does not answer';
      },
      { during, failed },
    );
  }

  setPower(target: PowerTarget): CallResult {
    return this.begin(
      target,
      (node, hasFailed) => {
        const ignores = target === 'soft power off' && this.random.chance(0.3);
        if (hasFailed || ignores) node.lastError = `${target} failed`;
        else this.changePower(target === 'power on' ? 'on' : 'off');
        node.powerState = `power ${this.power}`;
      },
      null,
      target === 'power on' ? 'power on' : 'power off',
    );
  }

  attach(url: string): CallResult {
    this.checkDriveChange('attach');
    return this.begin(`attach ${url}`, (node, hasFailed) => {
      if (hasFailed) node.lastError = 'the image cannot be fetched';
      if (this.medium !== null && !this.isSomebodys) this.violate(`attached over ${this.medium.image}`);
      // Another client was first: Ironic ejects its medium, and not every BMC obeys.
      if (this.isSomebodys && this.random.chance(0.5)) return;
      // Some BMCs insert first and then fail.
      if (!hasFailed || this.random.chance(0.5)) this.medium = { image: this.imageOf(url), url };
    });
  }

  detach(): CallResult {
    this.checkDriveChange('detach');
    return this.begin('detach', (node, hasFailed) => {
      if (hasFailed) node.lastError = 'the BMC does not eject it';
      else this.medium = null;
    });
  }

  tell(line: string): void {
    this.story.push(`${this.now}: ${line}`);
  }

  violate(law: string): void {
    this.tell(`VIOLATION: ${law}`);
    this.violations.push(law);
  }

  /** The same name for every copy of a node, as in the real one. */
  private imageOf(url: string): string {
    return this.handsOnUrls ? url : `http://ironic.example/cdrom-${this.uuid()}.iso`;
  }

  private uuid(): string {
    return `00000000-0000-4000-8000-${String(this.nodes).padStart(12, '0')}`;
  }

  /** A user at the BMC, at any time, whatever the drive contains. */
  insertSomebodys(): void {
    this.tell('a user inserts a medium');
    this.medium = { image: FOREIGN_IMAGE, url: null };
  }

  private get isSomebodys(): boolean {
    return this.medium?.image === FOREIGN_IMAGE;
  }

  /** A user at the machine. Ironic notices later, and no reader can know sooner. */
  pressPowerButton(power: 'on' | 'off'): void {
    this.changePower(power);
    this.pressedAt = this.now;
  }

  /** It has been on for long enough that every reader can know. */
  get isKnownOn(): boolean {
    return this.power === 'on' && this.now > this.changedAt + MAX_LAG_MS;
  }

  /** Another operator registered and adopted it. */
  makeActive(): void {
    this.register('');
    if (this.node !== null) Object.assign(this.node, { provisionState: 'active', sentDigest: null });
  }

  private changePower(power: 'on' | 'off'): void {
    if (this.power !== power) this.changedAt = this.now;
    if (this.power === 'on' && power === 'off') this.offs += 1;
    this.power = power;
  }

  /** A change between the read and the call, which no caller can know of. */
  private checkDriveChange(what: string): void {
    if (this.isSomebodys && this.medium === this.seen) this.violate(`${what} with a foreign medium in the drive`);
    // A read has at most this age, and happened one time step before the call.
    const isKnown = this.now > this.pressedAt + MAX_LAG_MS + 10_000;
    if (this.power === 'on' && isKnown && !this.mayChangeWhileOn) this.violate(`${what} while the host is on`);
  }

  /** A call that has taken effect when it returns. */
  private onNode(change: (node: Node) => void): CallResult {
    if (this.node === null) return 'refused';
    if (this.isLocked()) return 'unsure';
    change(this.node);
    return this.answered();
  }

  /** A call that returns before its work starts. */
  private begin(
    what: string,
    finish: (node: Node, hasFailed: boolean) => void,
    states: { readonly during: string; readonly failed: string } | null = null,
    targetPowerState: string | null = null,
  ): CallResult {
    const { node } = this;
    if (node === null) return 'refused';
    if (this.isLocked()) return 'unsure';
    if (this.random.chance(this.faults.swallowed)) {
      this.tell(`${what}: swallowed`);
      return this.answered();
    }
    Object.assign(node, { reservation: 'conductor', lastError: null, targetPowerState });
    node.provisionState = states?.during ?? node.provisionState;
    const hasFailed = this.random.chance(this.faults.failed);
    this.work = {
      endsAt: this.now + this.random.int(1, 10_000),
      finish: () => {
        finish(node, hasFailed);
        this.tell(`${what}: ${node.lastError ?? 'done'}`);
      },
      abort: () => {
        if (states !== null)
          Object.assign(node, { provisionState: states.failed, lastError: 'the conductor has restarted' });
      },
    };
    return this.answered();
  }

  private isLocked(): boolean {
    return this.work !== null || this.random.chance(this.faults.busy);
  }

  private answered(): CallResult {
    this.keep();
    return this.random.chance(this.faults.cut) ? 'unsure' : 'accepted';
  }

  private keep(): void {
    this.history.push({ at: this.now, node: this.node === null ? null : { ...this.node } });
    if (this.history.length > 100) this.history.shift();
  }
}
