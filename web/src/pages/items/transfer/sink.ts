// Target of an export: a file chosen by the user if the browser supports it, else a download built
// in memory.
import { bytes } from '../../../pure/figures/amount';

export interface Sink {
  /** File name for display. */
  name: string;
  write(text: string): Promise<void>;
  close(): Promise<void>;
  /** Cancels the export and discards the output. */
  abort(): Promise<void>;
}

interface FileHandle {
  name: string;
  createWritable(): Promise<{
    write(text: string): Promise<void>;
    close(): Promise<void>;
    abort(): Promise<void>;
  }>;
}

type Picker = (options: { suggestedName: string }) => Promise<FileHandle>;

function picker(): Picker | null {
  const found = (window as { showSaveFilePicker?: Picker }).showSaveFilePicker;
  return typeof found === 'function' ? found.bind(window) : null;
}

/** Maximum size of a download, which the browser keeps whole until it is saved. */
export const MOST_BYTES = 1024 * 1024 * 1024;
/** Small texts are buffered up to this size. */
const PART_CHARACTERS = 1024 * 1024;

export function isStreamed(): boolean {
  return picker() !== null;
}

export function download(parts: BlobPart[], name: string, type: string): void {
  const address = URL.createObjectURL(new Blob(parts, { type }));
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}

class Download implements Sink {
  private parts: Blob[] = [];
  private texts: string[] = [];
  private held = 0;
  private size = 0;

  constructor(
    readonly name: string,
    private readonly type: string,
    private readonly most: number,
  ) {}

  write(text: string): Promise<void> {
    this.texts.push(text);
    this.held += text.length;
    if (this.held >= PART_CHARACTERS) this.flush();
    if (this.size <= this.most) return Promise.resolve();
    const why = `This browser holds an export until it is saved, and no more than ${bytes(this.most)} of it. Narrow the filter, or use ebb export.`;
    return Promise.reject(new Error(why));
  }

  private flush(): void {
    // Browsers may keep a Blob on disk, but not a string.
    const part = new Blob(this.texts);
    this.size += part.size;
    this.parts.push(part);
    this.texts = [];
    this.held = 0;
  }

  close(): Promise<void> {
    this.flush();
    download(this.parts, this.name, this.type);
    return this.abort();
  }

  abort(): Promise<void> {
    this.parts = [];
    this.texts = [];
    return Promise.resolve();
  }
}

/** Returns a download that is built in memory. */
export function downloadSink(name: string, type: string, most = MOST_BYTES): Sink {
  return new Download(name, type, most);
}

/** Asks for the target file if the browser supports it; null: the user cancelled. */
export async function openSink(name: string, type: string): Promise<Sink | null> {
  const pick = picker();
  if (pick === null) return downloadSink(name, type);
  let handle: FileHandle;
  try {
    handle = await pick({ suggestedName: name });
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') return null;
    throw error;
  }
  const file = await handle.createWritable();
  return {
    name: handle.name,
    write: (text) => file.write(text),
    close: () => file.close(),
    abort: () => file.abort(),
  };
}
