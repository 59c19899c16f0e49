// Keeps megabytes of text out of single-line inputs: browsers take minutes to lay them out. Editors
// have limits of their own and are not affected.

/** Maximum characters per insertion. */
export const MOST_AT_ONCE = 16_384;

/** `refused` receives the number of refused characters. The field keeps its content. */
export function refuseLongInput(refused: (characters: number) => void): void {
  const judge = (event: InputEvent) => {
    const isField =
      event.target instanceof HTMLInputElement || event.target instanceof HTMLTextAreaElement;
    const characters = event.data?.length ?? 0;
    if (!isField || characters <= MOST_AT_ONCE) return;
    event.preventDefault();
    refused(characters);
  };
  document.addEventListener('beforeinput', judge, true);
}
