/** Evaluates the network beside the page, so that the page stays quick. */

import * as ort from "onnxruntime-web/wasm";
import type { Asked, Told } from "./network";

const tell = (told: Told, moved: Transferable[] = []): void => (self as unknown as Worker).postMessage(told, moved);

let session: Promise<ort.InferenceSession> | null = null;

self.addEventListener("message", ({ data }: MessageEvent<Asked | { runtime: ArrayBuffer; network: ArrayBuffer }>) => {
  if ("network" in data) {
    ort.env.wasm.numThreads = 1;
    ort.env.wasm.wasmBinary = data.runtime;
    ort.env.logLevel = "error";
    session = ort.InferenceSession.create(new Uint8Array(data.network), { executionProviders: ["wasm"], graphOptimizationLevel: "all" });
    session.then(
      () => tell({ opened: true }),
      (error: unknown) => tell({ failed: String(error) }),
    );
  } else void answer(data);
});

async function answer({ id, codes, state, rows }: Asked): Promise<void> {
  try {
    const found = await (await session!).run({
      codes: new ort.Tensor("uint8", codes, [rows, codes.length / rows]),
      state: new ort.Tensor("uint8", state, [rows, state.length / rows]),
    });
    const outputs = Object.fromEntries(Object.entries(found).map(([name, { data }]) => [name, Float32Array.from(data as Float32Array)]));
    tell({ id, outputs }, Object.values(outputs).map(({ buffer }) => buffer));
  } catch (error) {
    tell({ id, problem: String(error) });
  }
}
