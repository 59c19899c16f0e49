// A server per test: free ports, a manual clock, in memory by default. Ends with the test.
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CosmosClient } from '@azure/cosmos';
import { MongoClient } from 'mongodb';
import { removeFolder } from './folder';

interface Ready {
  mongo: string;
  cosmos: string;
  admin: string;
}

/** The well-known key from the documentation of Microsoft's emulator. */
export const WELL_KNOWN_KEY =
  'C2y6yDjf5/R+ob0N8A7Cgv30VRDJIWEHLM+4QDU5DE2nQ9nDuVTqobD4b8mGGyPMbIZnqyMsEcaGQy67XIw/Jw==';

export interface Options {
  clock?: 'manual' | 'system';
  flags?: string[];
  /** Key of the account, if not the well-known one. */
  key?: string;
  dataDir?: string;
  /** Free ports by default; 'off' disables an API. */
  ports?: { mongo?: string; cosmos?: string; admin?: string };
}

export class Server {
  private mongoClient: MongoClient | null = null;

  private constructor(
    private readonly process: ChildProcess,
    private readonly folder: string,
    readonly ready: Ready,
    private readonly options: Options,
  ) {}

  static async start(options: Options = {}): Promise<Server> {
    const binary = process.env.EBB_BIN;
    if (binary === undefined) throw new Error('EBB_BIN names no server');
    const folder = mkdtempSync(join(tmpdir(), 'ebb-portal-'));
    const ready = join(folder, 'ready.json');
    const kept = options.dataDir === undefined ? ['--in-memory'] : ['--data-dir', options.dataDir];
    const free = '127.0.0.1:0';
    const { mongo = free, cosmos = free, admin = free } = options.ports ?? {};
    const flags = ['--mongo-addr', mongo, '--cosmos-addr', cosmos, '--admin-addr', admin];
    const clock = ['--clock', options.clock ?? 'manual'];
    const all = [
      'serve',
      ...kept,
      ...clock,
      ...flags,
      '--ready-file',
      ready,
      ...(options.flags ?? []),
    ];
    const child = spawn(binary, all, { stdio: ['ignore', 'ignore', 'pipe'] });
    let said = '';
    child.stderr?.on('data', (part: Buffer) => (said += part.toString()));
    for (let tries = 0; tries < 400; tries += 1) {
      if (child.exitCode !== null) break;
      try {
        const made = JSON.parse(readFileSync(ready, 'utf8')) as Ready;
        return new Server(child, folder, made, options);
      } catch {
        await new Promise((done) => setTimeout(done, 25));
      }
    }
    child.kill('SIGKILL');
    throw new Error(`the server did not start: ${said}`);
  }

  /** Process id, for measurements. */
  get pid(): number {
    return this.process.pid ?? 0;
  }

  /** URL of the portal. */
  get url(): string {
    return `http://${this.ready.admin}`;
  }

  get cosmos(): CosmosClient {
    return new CosmosClient({
      endpoint: `http://${this.ready.cosmos}`,
      key: this.options.key ?? WELL_KNOWN_KEY,
      connectionPolicy: { enableEndpointDiscovery: false },
    });
  }

  async mongo(): Promise<MongoClient> {
    const uri = `mongodb://${this.ready.mongo}/?directConnection=true`;
    this.mongoClient ??= await new MongoClient(uri).connect();
    return this.mongoClient;
  }

  /** Advances the manual clock. */
  async advance(seconds: number): Promise<void> {
    const client = await this.mongo();
    await client.db('admin').command({ ebbClock: 1, advanceSeconds: seconds });
  }

  /** Sends a signal, e.g. to suspend the process like a server that hangs. */
  signal(name: NodeJS.Signals): void {
    this.process.kill(name);
  }

  /** Kills the process, like a crash. */
  async kill(): Promise<void> {
    const ended = new Promise((done) => this.process.once('exit', done));
    this.process.kill('SIGKILL');
    await ended;
  }

  /** Returns options to start it again on the same ports. */
  sameAgain(): Options {
    const { mongo, cosmos, admin } = this.ready;
    return { ...this.options, ports: { mongo, cosmos, admin } };
  }

  async stop(): Promise<void> {
    await this.mongoClient?.close();
    const ended = new Promise((done) => this.process.once('exit', done));
    if (this.process.exitCode === null && this.process.signalCode === null) {
      this.process.kill('SIGCONT');
      this.process.kill('SIGTERM');
      await ended;
    }
    removeFolder(this.folder);
  }
}
