"""What graphs write their equations with: patches of samples, edges, axes of neighbourhoods."""
