"""Serves one TorchScript model over HTTP: `POST /predict {"features": [[0.1, 0.2]]}` and `GET /health`.

MODEL_PATH is the file of the model, or a directory with one `*.pt` file. The server listens only after it has loaded the
model and computed one prediction, so a pod that responds to `/health` can respond to `/predict`.
"""

import glob
import os
from typing import List, Union

import torch
import uvicorn
from fastapi import FastAPI, HTTPException
from fastapi.responses import JSONResponse
from pydantic import BaseModel


class Request(BaseModel):
    features: Union[List[List[float]], List[float]]


def model_file(path):
    files = [path] if os.path.isfile(path) else sorted(glob.glob(os.path.join(path, "*.pt")))
    if len(files) != 1:
        raise SystemExit(f"MODEL_PATH must lead to one .pt file, {path} leads to {files or 'none'}")
    return files[0]


torch.set_num_threads(1)
MODEL = torch.jit.load(model_file(os.environ.get("MODEL_PATH", "/mnt/models")), map_location="cpu").eval()
NAME = os.environ.get("MODEL_NAME", "model")
VERSION = os.environ.get("MODEL_VERSION", "")

app = FastAPI(title=NAME)


@app.get("/health")
async def health():
    return {"status": "ok", "model": NAME, "version": VERSION}


# Runs in the event loop and returns a complete response. For a small model, a thread and the encoding of the result would double
# the cost. Use a plain `def` for slow models.
@app.post("/predict")
async def predict(request: Request):
    rows = request.features
    batch = rows if rows and isinstance(rows[0], list) else [rows]
    try:
        with torch.inference_mode():
            probabilities = MODEL(torch.tensor(batch)).softmax(dim=1)
    except (RuntimeError, ValueError) as error:
        raise HTTPException(status_code=422, detail=f"features do not fit the model: {str(error).splitlines()[0]}")
    return JSONResponse(
        {
            "model": NAME,
            "version": VERSION,
            "predictions": probabilities.argmax(dim=1).tolist(),
            "probabilities": [[round(value, 4) for value in row] for row in probabilities.tolist()],
        }
    )


if __name__ == "__main__":
    uvicorn.run(app, host="0.0.0.0", port=int(os.environ.get("PORT", 8000)), log_level="warning")
